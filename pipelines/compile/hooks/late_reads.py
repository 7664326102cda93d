"""Tensors that IREE updates before they are read (FIS156): found in the schedule of a clone, repaired where boundaries are placed."""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import shared_destinations
from fissile.passes.analysis.program.late_reads import (
    Read,
    late_reads,
    locate_positions,
    reads_before_updates,
)
from fissile.passes.checks.numbers.late_reads import check_late_reads
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT, SCHEDULED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing


def updated_before_read(session: Session, repair: bool) -> PhaseHook:
    """Only a module with a tensor that is an op's destination and used by another is looked at closer."""

    def act(module: Module) -> list[Finding]:
        if not shared_destinations(module.op):
            return []
        late, copies = _late(module, session)
        found = check_late_reads(late)
        if not (found and repair):
            return found
        from fissile.passes.remedies.host.copy_before_updates import CopyBeforeUpdates

        from ...pass_runner import run_pipeline

        remedy, repaired = CopyBeforeUpdates(), module.clone()
        run_pipeline(f"builtin.module({remedy})", repaired.op, report=found.append)
        left, copies_now = _late(repaired, session)
        if left and copies_now <= copies:
            return found  # IREE makes no copy for the update: an error
        return repairing.apply(module, remedy, found)

    return PhaseHook(BOUNDARIES_PLACED_AT, "late-reads", act)


def _late(module: Module, session: Session) -> tuple[list[Read], int]:
    """What is read too late in a clone of ``module``, and how many copies its schedule has."""
    clone = module.clone()
    try:
        session.run(clone, DISPATCHES_OUTLINED_AT)
        reads = reads_before_updates(clone.op)
        if not reads:
            return [], 0
        locate_positions(clone.op)
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed:
        return [], 0  # the compile comes there as well, and says why
    return late_reads(reads, clone.op)
