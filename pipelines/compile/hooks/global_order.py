"""Globals of which IREE schedules loads and stores in another order (FIS183), or that it fuses as it schedules them (FIS184): found in the
schedule of a clone, repaired before it is made."""

from __future__ import annotations

from dataclasses import dataclass

from fissile.finding import Finding
from fissile.passes.analysis.globals.accesses import mutable_globals
from fissile.passes.analysis.globals.chained_globals import ChainedGlobal
from fissile.passes.analysis.globals.fused_globals import fused_late, may_fuse_late
from fissile.passes.analysis.globals.late_ops import submissions
from fissile.passes.analysis.globals.scheduled_accesses import (
    Reordered,
    number_accesses,
    reordered_accesses,
    replaced_globals,
)
from fissile.passes.checks.numbers.global_accesses import check_chained_globals, check_reordered_accesses
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT, SCHEDULED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing


@dataclass(frozen=True)
class _Scheduled:
    """What is wrong in the schedule of a module."""

    fused: tuple[ChainedGlobal, ...] = ()
    reordered: tuple[Reordered, ...] = ()


def scheduled_accesses(session: Session, repair: bool) -> list[PhaseHook]:
    """Only a module in which an op of the host may be late, or globals may be fused, is looked at closer; phase flow is a stop of its own for
    modules with globals that change alone. What the repair leaves wrong is an error."""
    changing: list[bool] = []

    def note(module: Module) -> list[Finding]:
        changing[:] = [bool(mutable_globals(module.op))]
        return []

    return [
        PhaseHook(BOUNDARIES_PLACED_AT, "globals that change", note),
        PhaseHook(
            DISPATCHES_OUTLINED_AT,
            "scheduled accesses of globals",
            lambda module: _looked_at(module, session, repair),
            lambda: any(changing),
        ),
    ]


def _looked_at(module: Module, session: Session, repair: bool) -> list[Finding]:
    if not (submissions(module.op).before or may_fuse_late(module.op)):
        return []
    return _published(module, _scheduled(module, session), session, repair)


def findings_of(module: Module, session: Session) -> list[Finding]:
    """What there is to repair in ``module`` (at global optimisation), which is not changed."""
    if not mutable_globals(module.op):
        return []
    clone = module.clone()
    try:
        session.run(clone, DISPATCHES_OUTLINED_AT)
    except PhaseFailed:
        return []
    return _looked_at(clone, session, False)


def _published(module: Module, wrong: _Scheduled, session: Session, repair: bool) -> list[Finding]:
    """Repairs what is fused, and then what is in another order: which that is shows only where nothing is fused."""
    fused = check_chained_globals(wrong.fused)
    if fused and repair:
        from fissile.passes.remedies.globals.publish_globals import PublishGlobals

        names = dict.fromkeys(name for one in wrong.fused for name in (one.name, one.other))
        remedy, repaired = PublishGlobals(globals=tuple(names)), module.clone()
        repairing.run(repaired, remedy, [])
        left = _scheduled(repaired, session)
        if not left.fused:
            fused, wrong = repairing.apply(module, remedy, fused), left
    return fused + _submitted(module, wrong, session, repair)


def _submitted(module: Module, wrong: _Scheduled, session: Session, repair: bool) -> list[Finding]:
    found = check_reordered_accesses(wrong.reordered)
    if not (found and repair):
        return found
    from fissile.passes.remedies.globals.submit_in_order import SubmitInOrder

    remedy, repaired = SubmitInOrder(), module.clone()
    repairing.run(repaired, remedy, [])
    return found if _scheduled(repaired, session).reordered else repairing.apply(module, remedy, found)


def _scheduled(module: Module, session: Session) -> _Scheduled:
    """Of a clone; nothing where IREE stops: the compile comes there as well, and says why."""
    clone = module.clone()
    accesses = number_accesses(clone.op)
    try:
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed:
        return _Scheduled()
    fused = fused_late(module.op, replaced_globals(clone.op, accesses))
    return _Scheduled(tuple(fused), tuple(reordered_accesses(clone.op, accesses)))
