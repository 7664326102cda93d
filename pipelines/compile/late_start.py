"""What is not checked of a program that is read behind the phases in which it is (FIS008)."""

from __future__ import annotations

from fissile.finding import Finding, Severity
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT

from ..session import phase_index
from .request import CompileRequest

_BEFORE = {
    BOUNDARIES_PLACED_AT: ("sizes", "indices", "the order of reads and writes"),
    DISPATCHES_CONFIGURED_AT: ("what dispatches need", "what they compute"),
}
"""The last phase in which it can be checked -> what."""


def check_start(request: CompileRequest) -> list[Finding]:
    """FIS008 where the compile starts behind such a phase, and is to be checked."""
    start = request.compile_from
    if request.guard == "off" and request.repair == "off":
        return []
    missed = [
        one for phase, what in _BEFORE.items() if phase_index(phase) < phase_index(start) for one in what
    ]
    if not missed:
        return []
    *others, last = missed
    return [
        Finding(
            "FIS008",
            f"not checked behind phase {start}: {', '.join(others)} and {last}",
            Severity.NOTE,
            notes=(f"up to --compile-from={BOUNDARIES_PLACED_AT} they are",),
        )
    ]
