"""Does a loop or branch take a tensor from another offset of its buffer (FIS198)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, ordered

from ..dispatch_places import labelled


def check_lost_offsets(lost: Iterable[ir.Operation]) -> list[Finding]:
    """FIS198 of each place."""
    found: dict[str, Finding] = {}
    for op in lost:
        place = place_of(op)
        what = (
            "a loop begins or goes on with" if op.name in ("scf.for", "scf.while") else "a branch passes on"
        )
        found.setdefault(
            str(place),
            Finding(
                "FIS198",
                f"{what} another part of the buffer that IREE packs its tensor into",
                subject=op.name,
                places=labelled(place, "IREE takes the offset of another tensor that comes here"),
            ),
        )
    return list(ordered(found.values()))
