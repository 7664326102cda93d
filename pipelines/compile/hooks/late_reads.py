"""Tensors that IREE updates before they are read (FIS156), by copying inside of one buffer (FIS177), as if they were one (FIS181), or
while another one is the same buffer (FIS182), and results written to arguments that are read (FIS229): found in the schedule of a clone, repaired where boundaries are placed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import destinations, shared_destinations
from fissile.passes.analysis.host.stale_tensors import stale_tensors
from fissile.passes.analysis.order.commands import locate_positions
from fissile.passes.analysis.order.donated_storage import DonatedStorage, donates, overwritten_storage
from fissile.passes.analysis.program.late_reads import (
    Schedule,
    overlaps_in_dispatches,
    reads_before_updates,
    schedule_of,
    stale_reads,
)
from fissile.passes.analysis.program.remade_tensors import remade_tensors, tables
from fissile.passes.catalogue import find_pass
from fissile.passes.checks.in_place.donated_storage import check_donated_storage
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


def _everywhere(_found: Sequence[Any]) -> dict[str, Any]:
    return {}


def _with_holds(_found: Sequence[Any]) -> dict[str, Any]:
    return {"hold": True}


def _where_found(found: Sequence[DonatedStorage]) -> dict[str, Any]:
    return {"aliases": tuple(dict.fromkeys(f"{one.function}:{one.alias}" for one in found))}


@dataclass(frozen=True)
class _Row:
    """What is wrong in a schedule (a field of `Schedule`), and the passes that repair it, with their options for what was found: the first after
    which nothing of it is left."""

    field: str
    check: Callable[[Any], list[Finding]]
    ways: tuple[tuple[str, Callable[[Sequence[Any]], dict[str, Any]]], ...]


_ROWS = (
    # The copies of some arguments may keep the reads of others from being fused with what is written to these.
    _Row(
        "donated",
        check_donated_storage,
        (("fissile-copy-donated", _where_found), ("fissile-copy-donated", _everywhere)),
    ),
    _Row("remade", check_remade_tensors, (("fissile-hold-producers", _everywhere),)),
    _Row("stale", check_stale_reads, (("fissile-copy-passed-tensors", _everywhere),)),
    _Row("overlapping", check_overlapping_copies, (("fissile-hold-slices", _everywhere),)),
    _Row(
        "late",
        check_late_reads,
        (("fissile-copy-before-updates", _everywhere), ("fissile-copy-before-updates", _with_holds)),
    ),
)


def updated_before_read(session: Session, repair: bool) -> PhaseHook:
    """Only a module with a result that is written to an argument's buffer, a tensor that is an op's destination, and used by another one or perhaps the same buffer as another, or with two that it
    computes from nothing, is looked at closer."""

    def act(module: Module) -> list[Finding]:
        op = module.op
        if not (
            donates(op) or shared_destinations(op) or len(tables(op)) > 1 or stale_tensors(op, destinations)
        ):
            return []
        schedule, reported = _scheduled(module, session), []
        for row in _ROWS:
            wrong = getattr(schedule, row.field)
            if not (found := row.check(wrong)):
                continue
            for name, options in row.ways if repair else ():
                remedy = cast("Remedy", find_pass(name)(**options(wrong)))
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
        donated = overwritten_storage(clone.op)
        if not reads and not remade and not stale:
            return Schedule(overlapping=inside, donated=donated)
        locate_positions(clone.op)
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed:
        return Schedule()
    schedule = schedule_of(reads, remade, stale, clone.op)
    return replace(schedule, overlapping=(*inside, *schedule.overlapping), donated=donated)
