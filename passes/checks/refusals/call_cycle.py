"""Would IREE never end, because functions call themselves (FIS145)?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Help
from fissile.passes.analysis.program.call_cycles import CallCycle

CODE = "FIS145"
MOST_NAMED = 6
MOST_PLACES = 4


def check_call_cycles(found: Sequence[CallCycle]) -> list[Finding]:
    """FIS145 of each cycle."""
    return [_finding(one) for one in found]


def _finding(cycle: CallCycle) -> Finding:
    first, *others = cycle.functions
    named = [f"@{name}" for name in others[:MOST_NAMED]]
    if len(others) > MOST_NAMED:
        named.append(f"{len(others) - MOST_NAMED} more")
    through = f" through {', '.join(named)}" if named else ""
    return Finding(
        CODE,
        f"IREE does not end on a function that calls itself: @{first} does{through}",
        subject=f"@{first}",
        places=cycle.places[:MOST_PLACES],
        helps=(Help("write the recursion as a loop: scf.for with a count, or scf.while with a condition"),),
    )
