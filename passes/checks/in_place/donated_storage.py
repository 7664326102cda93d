"""Is a result written to the buffer of an argument that is still read (FIS229)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Place
from fissile.passes.analysis.order.donated_storage import DonatedStorage

from ..dispatch_places import labelled
from .late_reads import MOST_READERS


def check_donated_storage(found: Iterable[DonatedStorage]) -> list[Finding]:
    """FIS229 of each result."""
    readers: dict[tuple[str, str, Place | None], list[Place | None]] = {}
    for one in found:
        readers.setdefault((one.function, one.name, one.written_at), []).append(one.read_at)
    return [
        Finding(
            "FIS229",
            f"@{function}: IREE writes a result to the buffer of {name or 'an argument'}, which is still read",
            subject=f"@{function}",
            places=(
                *labelled(written_at, "writes to the argument's buffer"),
                *(
                    label
                    for place in list(dict.fromkeys(read_at))[:MOST_READERS]
                    if place != written_at
                    for label in labelled(place, "reads the argument")
                ),
            ),
        )
        for (function, name, written_at), read_at in readers.items()
    ]
