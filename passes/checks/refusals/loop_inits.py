"""Does IREE schedule the initial value of a loop with ops that wait for the loop, and reject that (FIS171)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.dialect import place_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.host.loop_inits import LoopInit

from ..dispatch_places import labelled


def check_loop_inits(found: Iterable[LoopInit]) -> list[Finding]:
    """FIS171, one for each initial value."""
    return list(ordered(_finding(one) for one in found))


def _finding(one: LoopInit) -> Finding:
    return Finding(
        "FIS171",
        f"a loop starts with the result of {one.producer.name}, which other ops use as well, and IREE schedules it with ops that wait for the loop",
        subject=one.loop.name,
        places=(
            *labelled(place_of(one.loop), "this loop"),
            *labelled(place_of(one.producer), "starts with this"),
        ),
    )
