"""Is a result written to the buffer of an argument that is still read (FIS229)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding, Place
from fissile.passes.analysis.order.donated_storage import DonatedStorage

from ..dispatch_places import labelled
from .late_reads import MOST_READERS


def check_donated_storage(found: Iterable[DonatedStorage]) -> list[Finding]:
    """FIS229 of each result: wrong where another op reads the argument, and not proved right where the op that writes does."""
    readers: dict[tuple[str, str, Place | None], list[DonatedStorage]] = {}
    for one in found:
        readers.setdefault((one.function, one.name, one.written_at), []).append(one)
    return [
        Finding(
            "FIS229",
            f"@{function}: IREE writes a result to the buffer of {name or 'an argument'}, which is still read",
            subject=f"@{function}",
            effect=Effect.WRONG if any(one.sure for one in reads) else Effect.UNPROVED,
            places=(
                *labelled(written_at, "writes to the argument's buffer"),
                *(
                    label
                    for place in list(dict.fromkeys(one.read_at for one in reads))[:MOST_READERS]
                    if place != written_at
                    for label in labelled(place, "reads the argument")
                ),
            ),
        )
        for (function, name, written_at), reads in readers.items()
    ]
