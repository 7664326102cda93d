"""The stream phase in two parts, with the transients packed in between (--pack-transients), or looked at (--check-lifetimes)."""

from __future__ import annotations

from fissile.finding import Finding, Severity
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import DISPATCHES_OUTLINED_AT, SCHEDULED_AT
from fissile.passes.iree.pipelines import STREAM_FROM_ALLOCATION, STREAM_UP_TO_ALLOCATION
from fissile.passes.remedies.lifetime.pack_transients import PackTransients

from ...pass_runner import run_pipeline
from ...session import Module, Session

PACKED_AT = DISPATCHES_OUTLINED_AT
"""The phase before the one that is run in two parts."""


def report_slabs(module: Module) -> list[Finding]:
    """FIS311 for each slab of ``module``, at phase PACKED_AT, that could be smaller. The module stays as it is."""
    try:
        return _first_part(module.clone(), only_report=True)
    except PassFailed:
        return []  # the phase comes there as well, and says why


def pack_transients(session: Session, module: Module) -> list[Finding]:
    """Runs phase SCHEDULED_AT on ``module``, which is at PACKED_AT, with its transients packed; FIS311 for each slab.

    The two parts are those of the phase under default options. Where they and the phase itself do not give the same program when nothing is
    packed, an option has changed the phase: the module stays as it is, and the finding says so. A program with no slab to pack
    is left to the phase as well.
    """
    could = report_slabs(module)
    if not could:
        return []
    stock, parts = session.run(module.clone(), SCHEDULED_AT), module.clone()
    run_pipeline(STREAM_UP_TO_ALLOCATION, parts.op, report=_nothing)
    run_pipeline(STREAM_FROM_ALLOCATION, parts.op, report=_nothing)
    if parts.text(locations=True) != stock.text(locations=True):
        return [_left(finding) for finding in could]
    found = _first_part(module, only_report=False)
    run_pipeline(STREAM_FROM_ALLOCATION, module.op, report=_nothing)
    module.stands_at(SCHEDULED_AT)
    return found


def _first_part(module: Module, only_report: bool) -> list[Finding]:
    found: list[Finding] = []
    run_pipeline(STREAM_UP_TO_ALLOCATION, module.op, report=_nothing)
    run_pipeline(f"builtin.module({PackTransients(only_report)})", module.op, report=found.append)
    return found


def _nothing(_finding: Finding) -> None:
    pass


def _left(finding: Finding) -> Finding:
    why = "not packed: an option changes how IREE schedules this program, and the two parts of that phase do not follow it"
    return finding.with_(severity=Severity.WARNING, notes=(*finding.notes, why))
