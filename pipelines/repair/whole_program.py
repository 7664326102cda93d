"""What IREE refuses in the program as a whole, before it generates code for dispatches, and a pass on the way that removes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.unread_borders import unread_borders
from fissile.passes.analysis.loops.loop_inits import passed_on, shared_inits
from fissile.passes.analysis.loops.result_sizes import unsized
from fissile.passes.analysis.loops.while_operands import untaken_operands
from fissile.passes.checks.refusals.loops import (
    check_passed_on,
    check_result_sizes,
    check_shared_inits,
    check_while_operands,
)
from fissile.passes.checks.refusals.unread_border import check_unread_borders
from fissile.passes.iree.messages import (
    CIRCULAR_PARTITION,
    LOOP_TYPES_DIFFER,
    SIZES_UNRESOLVED,
    WHILE_OPERANDS_DIFFER,
)
from fissile.passes.iree.phases import BORDERS_TRIMMED_AT, BOUNDARIES_PLACED_AT
from fissile.passes.remedies.decompose.trim_borders import TrimBorders
from fissile.passes.remedies.loops.copy_before_loops import CopyBeforeLoops
from fissile.passes.remedies.loops.finish_before_loops import FinishBeforeLoops
from fissile.passes.remedies.loops.pass_on_while_operands import PassOnWhileOperands
from fissile.passes.remedies.loops.pass_sizes_on import PassSizesOn
from fissile.passes.remedies.remedy import Remedy

from ..compile.compile_run import CompileRun
from ..pass_runner import run_pipeline
from ..phase_pipeline import PhaseHook
from ..probe.diagnostics import quoted
from ..session import Module, PhaseFailed, phase_index
from .failures import Failure


@dataclass(frozen=True)
class Rewrite:
    """``remedy``, on the output of ``phase``, for what ``refused`` says of IREE's answer; ``find`` has what it would change."""

    remedy: type[Remedy]
    phase: str
    refused: Callable[[PhaseFailed], bool]
    find: Callable[[ir.Operation], list[Finding]]

    def hook(self, message: str) -> PhaseHook:
        """Runs the remedy and reports what it repairs; ``message`` is IREE's message about it."""

        def act(module: Module) -> list[Finding]:
            found = [
                finding.with_(
                    severity=Severity.REPAIRED,
                    stock=quoted(message),
                    helps=(self.remedy().help(("pass", self.remedy.name)),),
                )
                for finding in self.find(module.op)
            ]
            if found:
                run_pipeline(f"builtin.module({self.remedy.name})", module.op, report=found.append)
            return found

        return PhaseHook(self.phase, self.remedy.name, act)


REWRITES = (
    Rewrite(
        TrimBorders,
        BORDERS_TRIMMED_AT,
        lambda failed: failed.phase == BOUNDARIES_PLACED_AT,
        lambda module: check_unread_borders(unread_borders(module)),
    ),
    Rewrite(
        FinishBeforeLoops,
        BOUNDARIES_PLACED_AT,
        lambda failed: re.search(CIRCULAR_PARTITION, str(failed)) is not None,
        lambda module: check_shared_inits(shared_inits(module)),
    ),
    Rewrite(
        PassSizesOn,
        BOUNDARIES_PLACED_AT,
        lambda failed: re.search(SIZES_UNRESOLVED, str(failed)) is not None,
        lambda module: check_result_sizes(unsized(module)),
    ),
    Rewrite(
        PassOnWhileOperands,
        BOUNDARIES_PLACED_AT,
        lambda failed: re.search(WHILE_OPERANDS_DIFFER, str(failed)) is not None,
        lambda module: check_while_operands(untaken_operands(module)),
    ),
    Rewrite(
        CopyBeforeLoops,
        BOUNDARIES_PLACED_AT,
        lambda failed: re.search(LOOP_TYPES_DIFFER, str(failed)) is not None,
        lambda module: check_passed_on(passed_on(module)),
    ),
)


def rewrite_for(failure: Failure | None) -> Rewrite | None:
    """What may remove ``failure``; None where it is of another kind."""
    if not isinstance(failure, PhaseFailed):
        return None
    return next((rewrite for rewrite in REWRITES if rewrite.refused(failure)), None)


def rewritable(run: CompileRun, failure: Failure | None) -> list[Finding]:
    """What may be behind ``failure``, as if it were repaired; empty where it is of another kind."""
    rewrite = rewrite_for(failure)
    if rewrite is None or phase_index(run.request.compile_from) >= phase_index(rewrite.phase):
        return []
    module = run.parse()
    try:
        run.phase_pipeline.advance(module, rewrite.phase)
    except PhaseFailed:
        return []  # it fails before (an unknown target): nothing that this is for is to blame
    assert failure is not None
    return list(rewrite.hook(failure.message).act(module))
