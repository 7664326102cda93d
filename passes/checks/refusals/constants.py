"""Does IREE reject a program because it cannot evaluate a constant of it (FIS215)?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.analysis.globals.evaluated import Evaluated

from ..dispatch_places import labelled

MOST_SHOWN = 3


def check_evaluated(found: Sequence[Evaluated]) -> list[Finding]:
    """One FIS215 for all of them: IREE evaluates them in one module."""
    if not found:
        return []
    many = f"{len(found)} constants" if len(found) > 1 else "a constant"
    places = [
        place for one in found[:MOST_SHOWN] for place in labelled(place_of(one.source), "computes a constant")
    ]
    return [
        Finding(
            "FIS215",
            f"IREE evaluates {many} of the program while it compiles, and fails",
            subject=found[0].source.name,
            places=tuple(dict.fromkeys(places)),
        )
    ]
