"""Globals of which IREE schedules loads and stores in another order (FIS183), that it fuses as it schedules them, or of which it takes a value
from elsewhere (FIS184): found in the schedule of a clone, repaired before it is made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fissile.finding import Finding, Severity
from fissile.passes.analysis.globals.accesses import mutable_globals
from fissile.passes.analysis.globals.chained_globals import ChainedGlobal
from fissile.passes.analysis.globals.forwarded_loads import candidates, device_uses, forwarded
from fissile.passes.analysis.globals.fused_globals import fused_late, fused_with_constant, may_fuse_late
from fissile.passes.analysis.globals.late_ops import submissions
from fissile.passes.analysis.globals.scheduled_accesses import (
    Reordered,
    number_accesses,
    reordered_accesses,
    replaced_globals,
)
from fissile.passes.checks.numbers.global_accesses import (
    check_chained_globals,
    check_forwarded_loads,
    check_fused_with_constant,
    check_reordered_accesses,
)
from fissile.passes.iree.messages import IMMUTABLE_LOAD
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT, SCHEDULED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, PhaseFailed, Session
from . import repairing


@dataclass(frozen=True)
class _Scheduled:
    """What is wrong in the schedule of a module."""

    fused: tuple[ChainedGlobal, ...] = ()
    reordered: tuple[Reordered, ...] = ()
    is_refused: bool = False
    """IREE has fused a global with a constant."""


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
    found: list[Finding] = []
    if submissions(module.op).before or may_fuse_late(module.op):
        found = _published(module, _scheduled(module, session), session, repair)
    if any(finding.severity is Severity.ERROR for finding in found):
        return found  # what the schedule would be otherwise is not known
    return found + _hidden(module, session, repair)


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
    chained = fused_with_constant(module.op) if wrong.is_refused else wrong.fused
    fused = check_fused_with_constant(chained) if wrong.is_refused else check_chained_globals(chained)
    if fused and repair:
        from fissile.passes.remedies.globals.publish_globals import PublishGlobals

        names = dict.fromkeys(name for one in chained for name in (one.name, one.other) if name)
        remedy, repaired = PublishGlobals(globals=tuple(names)), module.clone()
        repairing.run(repaired, remedy, [])
        left = _scheduled(repaired, session)
        if not (left.fused or left.is_refused):
            fused, wrong = repairing.apply(module, remedy, fused), left
    return fused + _submitted(module, wrong, session, repair)


def _submitted(module: Module, wrong: _Scheduled, session: Session, repair: bool) -> list[Finding]:
    found = check_reordered_accesses(wrong.reordered)
    if not (found and repair):
        return found
    from fissile.passes.remedies.globals.submit_in_order import SubmitInOrder

    remedy, repaired = SubmitInOrder(), module.clone()
    repairing.run(repaired, remedy, [])
    left = _scheduled(repaired, session, in_order=True)
    return found if left.reordered else repairing.apply(module, remedy, found)


def _hidden(module: Module, session: Session, repair: bool) -> list[Finding]:
    """Whether IREE forwards anything shows in how often the device uses each load where the stores are hidden from IREE, and where not."""
    clone = module.clone()
    may_be = candidates(clone.op, number_accesses(clone.op))
    if not may_be:
        return []
    from fissile.passes.remedies.globals.hide_stored_values import HideStoredValues

    remedy, repaired = HideStoredValues(tuple(sorted({one.name for one in may_be.values()}))), module.clone()
    repairing.run(repaired, remedy, [])
    number_accesses(repaired.op)
    try:
        session.run(clone, SCHEDULED_AT)
        session.run(repaired, SCHEDULED_AT)
    except PhaseFailed:
        return []
    uses, hidden = device_uses(clone.op, may_be), device_uses(repaired.op, may_be)
    found = forwarded(may_be, uses, hidden)
    if not (found and repair):
        return check_forwarded_loads(found)
    names = tuple(sorted({one.name for one in found}))
    return repairing.apply(module, HideStoredValues(names), check_forwarded_loads(found))


def _scheduled(module: Module, session: Session, in_order: bool = False) -> _Scheduled:
    """Of a clone (``in_order``: that already submits what it has to); nothing where IREE stops: the compile comes there as well, and says why."""
    clone = module.clone()
    accesses = number_accesses(clone.op, () if in_order else submissions(clone.op).before)
    try:
        session.run(clone, SCHEDULED_AT)
    except PhaseFailed as failed:
        return _Scheduled(is_refused=bool(re.search(IMMUTABLE_LOAD, str(failed))))
    fused = fused_late(module.op, replaced_globals(clone.op, accesses))
    return _Scheduled(tuple(fused), tuple(reordered_accesses(clone.op, accesses)))
