"""Tensors that IREE updates before they are read (FIS156), by copying inside of one buffer (FIS177), as if they were one (FIS181), or
while another one is the same buffer (FIS182): found in the schedule of a clone, repaired where boundaries are placed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import destinations, shared_destinations
from fissile.passes.analysis.host.stale_tensors import stale_tensors
from fissile.passes.analysis.program.late_reads import (
    Schedule,
    locate_positions,
    overlaps_in_dispatches,
    reads_before_updates,
    schedule_of,
    stale_reads,
)
from fissile.passes.analysis.program.remade_tensors import remade_tensors, tables
from fissile.passes.catalogue import find_pass
from fissile.passes.checks.in_place.late_reads import (
    check_late_reads,
    check_overlapping_copies,
    check_remade_tensors,
    check_stale_reads,
)
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT, SCHEDULED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import Remedy


@dataclass(frozen=True)
class _Row:
    """What is wrong in a schedule (a field of `Schedule`), and the passes that repair it: the first after which nothing of it is left."""

    field: str
    check: Callable[[Any], list[Finding]]
    ways: tuple[tuple[str, dict[str, bool]], ...]


_ROWS = (
    _Row("remade", check_remade_tensors, (("fissile-hold-producers", {}),)),
    _Row("stale", check_stale_reads, (("fissile-copy-passed-tensors", {}),)),
    _Row("overlapping", check_overlapping_copies, (("fissile-hold-slices", {}),)),
    _Row(
        "late",
        check_late_reads,
        (("fissile-copy-before-updates", {}), ("fissile-copy-before-updates", {"hold": True})),
    ),
)


def updated_before_read(session: Session, repair: bool) -> PhaseHook:
    """Only a module with a tensor that is an op's destination, and used by another one or perhaps the same buffer as another, or with two that it
    computes from nothing, is looked at closer."""

    def act(module: Module) -> list[Finding]:
        op = module.op
        if not (shared_destinations(op) or len(tables(op)) > 1 or stale_tensors(op, destinations)):
            return []
        schedule, reported = _scheduled(module, session), []
        for row in _ROWS:
            if not (found := row.check(getattr(schedule, row.field))):
                continue
            for name, options in row.ways if repair else ():
                remedy = cast("Remedy", find_pass(name)(**options))
                repaired = _with(remedy, module, session)
                if not getattr(repaired, row.field):
                    found, schedule = repairing.apply(module, remedy, found), repaired
                    break
            reported += found  # where IREE updates the tensor in place all the same, it is an error
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
        stale, inside = stale_reads(clone.op), overlaps_in_dispatches(clone.op)
        if not reads and not remade and not stale:
            return Schedule(overlapping=inside)
        locate_positions(clone.op)
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed:
        return Schedule()
    schedule = schedule_of(reads, remade, stale, clone.op)
    return replace(schedule, overlapping=(*inside, *schedule.overlapping))
