"""Tensors that a loop takes from another offset (FIS198): found in the schedule of a clone, repaired where boundaries are placed."""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding
from fissile.passes.analysis.loops.lost_offsets import (
    carriers,
    lost_offsets,
    mark_offsets,
    number_carriers,
    passes_open_tensors,
)
from fissile.passes.checks.numbers.lost_offsets import check_lost_offsets
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT
from fissile.passes.iree.pipelines import INTEGERS_FOLDED, OFFSETS_PASSED_ON, STREAM_UP_TO_ALLOCATION

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing


def offsets_kept(session: Session, repair: bool) -> PhaseHook:
    """Only a module with a tensor of unknown size, and loops or branches that pass tensors on, is looked at closer."""

    def act(module: Module) -> list[Finding]:
        if not passes_open_tensors(module.op) or not (lost := _lost(module, session)):
            return []
        every = carriers(module.op)
        known = _known(lost, len(every))
        found = check_lost_offsets(every[number] for number in known)
        if not repair:
            return found
        from fissile.passes.remedies.loops.hold_passed_tensors import HoldPassedTensors

        ways = ((inside, bare) for inside in (False, True) for bare in (False, True))
        for inside, bare in ways:
            remedy = HoldPassedTensors(known, inside, bare)
            repaired = module.clone()
            repairing.run(repaired, remedy, [])
            if _lost(repaired, session) == []:
                return repairing.apply(module, remedy, found)
        return found

    return PhaseHook(BOUNDARIES_PLACED_AT, "lost offsets", act)


def _known(lost: Sequence[int], count: int) -> tuple[int, ...]:
    """The carriers that ``lost`` names; all of them where one has lost its number."""
    return tuple(range(count)) if -1 in lost else tuple(lost)


def _lost(module: Module, session: Session) -> list[int] | None:
    """The numbers of the carriers that lose an offset; None where IREE stops: the compile comes there as well, and says why."""
    from ...pass_runner import run_pipeline

    clone = module.clone()
    number_carriers(clone.op)
    try:
        session.run(clone, DISPATCHES_OUTLINED_AT)
        for pipeline in (STREAM_UP_TO_ALLOCATION, OFFSETS_PASSED_ON):
            run_pipeline(pipeline, clone.op, report=_nothing)
        mark_offsets(clone.op)
        run_pipeline(INTEGERS_FOLDED, clone.op, report=_nothing)
    except (PhaseFailed, PassFailed):
        return None
    return lost_offsets(clone.op)


def _nothing(_finding: Finding) -> None:
    pass
