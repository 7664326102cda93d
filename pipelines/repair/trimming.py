"""What IREE refuses in global optimisation because a window leaves a border of its operand unread: sliced off before."""

from __future__ import annotations

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.unread_borders import unread_borders
from fissile.passes.checks.refusals.unread_border import check_unread_borders
from fissile.passes.iree.phases import BORDERS_TRIMMED_AT, BOUNDARIES_PLACED_AT
from fissile.passes.remedies.decompose.trim_borders import TrimBorders

from ..compile.compile_run import CompileRun
from ..pass_runner import run_pipeline
from ..phase_pipeline import PhaseHook
from ..probe.diagnostics import quoted
from ..session import Module, PhaseFailed, phase_index
from .failures import Failure

PASS = TrimBorders.name


def unread(module: Module) -> list[Finding]:
    """FIS119, repaired, for every border in ``module``, which has not passed the phase that they are sliced off at."""
    return [_trimmed_finding(finding) for finding in check_unread_borders(unread_borders(module.op))]


def find_borders(run: CompileRun, failure: Failure) -> list[Finding]:
    """What may be behind ``failure``; empty where it is of another kind."""
    if not isinstance(failure, PhaseFailed) or failure.phase != BOUNDARIES_PLACED_AT:
        return []
    if phase_index(run.request.compile_from) >= phase_index(BORDERS_TRIMMED_AT):
        return []
    module = run.parse()
    try:
        run.phase_pipeline.advance(module, BORDERS_TRIMMED_AT)
    except PhaseFailed:
        return []  # it fails before (an unknown target): no border is to blame
    return unread(module)


def trimming(message: str = "") -> PhaseHook:
    """Slices unread borders off and reports FIS119 of each; ``message`` is IREE's message about them."""

    def act(module: Module) -> list[Finding]:
        found = [finding.with_(stock=quoted(message)) for finding in unread(module)]
        run_pipeline(f"builtin.module({PASS})", module.op, report=found.append)
        return found

    return PhaseHook(BORDERS_TRIMMED_AT, "trim-borders", act)


def _trimmed_finding(finding: Finding) -> Finding:
    return finding.with_(severity=Severity.REPAIRED, helps=(TrimBorders().help(("pass", PASS)),))
