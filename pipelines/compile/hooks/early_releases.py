"""Storage that IREE deallocates too early (FIS303): found in the schedule of programs with loops, and repaired there."""

from __future__ import annotations

from fissile.finding import Finding, Severity
from fissile.passes.analysis.host.branch_operands import carries_references
from fissile.passes.analysis.host.early_releases import early_releases
from fissile.passes.checks.storage.lifetimes import check_early_releases
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module


def early_deallocations(repair: bool) -> PhaseHook:
    """Only a program with a branch that passes two references is looked at: without one IREE counts right."""

    def act(module: Module) -> list[Finding]:
        if not carries_references(module.op.operation):
            return []
        found = check_early_releases(early_releases(module.op.operation))
        if not (found and repair):
            return found
        from fissile.passes.remedies.lifetime.drop_early_releases import DropEarlyReleases

        from ...pass_runner import run_pipeline

        remedy = DropEarlyReleases()
        done = remedy.help(("pass", str(remedy)), ("numerics", remedy.numbers))
        module.about_to_change()
        run_pipeline(f"builtin.module({remedy})", module.op, report=found.append)
        return [finding.with_(severity=Severity.REPAIRED, helps=(done,)) for finding in found]

    return PhaseHook(DISPATCHES_CONFIGURED_AT, "early deallocations", act)
