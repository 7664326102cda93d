"""Does a while loop have a tensor that its condition alone reads (FIS174)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.dialect import place_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.program.while_operands import Untaken

from ..dispatch_places import labelled


def check_while_operands(found: Iterable[Untaken]) -> list[Finding]:
    """FIS174, one for each loop."""
    return list(
        ordered(
            Finding(
                "FIS174",
                "a while loop starts with more than its condition passes on, and IREE converts its body for other arguments",
                subject=one.loop.name,
                places=labelled(place_of(one.loop), "this loop"),
            )
            for one in found
        )
    )
