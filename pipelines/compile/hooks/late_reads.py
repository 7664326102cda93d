"""Tensors that IREE updates before they are read (FIS156), by copying inside of one buffer (FIS177), or as if they were one (FIS181): found
in the schedule of a clone, repaired where boundaries are placed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import shared_destinations
from fissile.passes.analysis.program.late_reads import (
    Schedule,
    locate_positions,
    overlaps_in_dispatches,
    reads_before_updates,
    schedule_of,
)
from fissile.passes.analysis.program.remade_tensors import remade_tensors
from fissile.passes.checks.numbers.late_reads import (
    check_late_reads,
    check_overlapping_copies,
    check_remade_tensors,
)
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT, SCHEDULED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import Remedy


def updated_before_read(session: Session, repair: bool) -> PhaseHook:
    """Only a module with a tensor that is an op's destination and used by another is looked at closer."""

    def act(module: Module) -> list[Finding]:
        if not shared_destinations(module.op):
            return []
        before = _scheduled(module, session)
        remade = check_remade_tensors(before.remade)
        overlapping, late = check_overlapping_copies(before.overlapping), check_late_reads(before.late)
        if not repair:
            return remade + overlapping + late
        reported: list[Finding] = []
        if remade:
            from fissile.passes.remedies.host.hold_producers import HoldProducers

            left = _with(HoldProducers(), module, session).remade
            reported += remade if left else repairing.apply(module, HoldProducers(), remade)
        if overlapping:
            from fissile.passes.remedies.host.hold_slices import HoldSlices

            repaired, remedy = _with(HoldSlices(), module, session), HoldSlices()
            reported += overlapping if repaired.overlapping else repairing.apply(module, remedy, overlapping)
        if late:
            from fissile.passes.remedies.host.copy_before_updates import CopyBeforeUpdates

            ways = (CopyBeforeUpdates(), CopyBeforeUpdates(hold=True))
            # Where IREE updates the tensor in place all the same, it is an error.
            cure = next((way for way in ways if not _with(way, module, session).late), None)
            reported += repairing.apply(module, cure, late) if cure else late
        return reported

    return PhaseHook(BOUNDARIES_PLACED_AT, "late-reads", act)


def _with(remedy: Remedy, module: Module, session: Session) -> Schedule:
    """The schedule of ``module`` with ``remedy``."""
    repaired = module.clone()
    repairing.run(repaired, remedy, [])
    return _scheduled(repaired, session)


def _scheduled(module: Module, session: Session) -> Schedule:
    """What a clone of ``module`` comes to; nothing where IREE stops: the compile comes there as well, and says why."""
    clone = module.clone()
    try:
        session.run(clone, DISPATCHES_OUTLINED_AT)
        reads, remade = reads_before_updates(clone.op), remade_tensors(clone.op)
        inside = overlaps_in_dispatches(clone.op)
        if not reads and not remade:
            return Schedule(overlapping=inside)
        locate_positions(clone.op)
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed:
        return Schedule()
    schedule = schedule_of(reads, remade, clone.op)
    return replace(schedule, overlapping=(*inside, *schedule.overlapping))
