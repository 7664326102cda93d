"""What IREE refuses in the program as a whole, before it generates code for dispatches, and a pass on the way that removes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.unread_borders import unread_borders
from fissile.passes.analysis.globals.evaluated import evaluated_values
from fissile.passes.analysis.globals.updated_in_loops import updated_in_loops
from fissile.passes.analysis.layout.partial_bytes import partial_bytes
from fissile.passes.analysis.loops.loop_inits import passed_on, shared_inits
from fissile.passes.analysis.loops.result_sizes import unsized
from fissile.passes.analysis.loops.while_operands import untaken_operands
from fissile.passes.analysis.program.private_calls import kept_apart
from fissile.passes.checks.refusals.before_dispatches import (
    check_evaluated,
    check_partial_bytes,
    check_unread_borders,
)
from fissile.passes.checks.refusals.loops import (
    check_calls,
    check_passed_on,
    check_result_sizes,
    check_shared_inits,
    check_updated_globals,
    check_while_operands,
)
from fissile.passes.definition import PassFailed
from fissile.passes.iree.messages import (
    CALL_TYPES_DIFFER,
    CIRCULAR_PARTITION,
    LOOP_TYPES_DIFFER,
    OPERAND_UNLINKED,
    PARTIAL_BYTES,
    PARTIAL_ROWS,
    SIZES_UNRESOLVED,
    WAITS_FOR_ITSELF,
    WHILE_OPERANDS_DIFFER,
    WHILE_TYPES_DIFFER,
)
from fissile.passes.iree.phases import (
    BORDERS_TRIMMED_AT,
    BOUNDARIES_PLACED_AT,
    DISPATCHES_OUTLINED_AT,
    INPUT_CONVERTED_AT,
)
from fissile.passes.remedies.decompose.trim_borders import TrimBorders
from fissile.passes.remedies.globals.compute_at_load import ComputeAtLoad
from fissile.passes.remedies.globals.hide_stored_values import HideStoredValues
from fissile.passes.remedies.host.inline_calls import InlineCalls
from fissile.passes.remedies.loops.copy_before_loops import CopyBeforeLoops
from fissile.passes.remedies.loops.finish_before_loops import FinishBeforeLoops
from fissile.passes.remedies.loops.pass_on_while_operands import PassOnWhileOperands
from fissile.passes.remedies.loops.pass_sizes_on import PassSizesOn
from fissile.passes.remedies.narrow.fill_bytes import FillBytes
from fissile.passes.remedies.remedy import Remedy

from ..compile.compile_run import CompileRun
from ..pass_runner import run_pipeline
from ..phase_pipeline import PhaseHook
from ..probe.diagnostics import quoted
from ..session import Module, PhaseFailed, phase_index
from .failures import Failure
from .packing import APART


@dataclass(frozen=True)
class Rewrite:
    """``remedy``, on the output of ``phase``, for what ``refused`` says of IREE's answer; ``find`` has what it would change. Passes
    ``before`` it make ops that it takes."""

    remedy: Remedy
    phase: str
    refused: Callable[[PhaseFailed], bool]
    find: Callable[[ir.Operation], list[Finding]]
    before: tuple[str, ...] = ()

    def hook(self, message: str) -> PhaseHook:
        """Runs the remedy and reports what it repairs; ``message`` is IREE's message about it."""

        def act(module: Module) -> list[Finding]:
            found = [
                finding.with_(
                    severity=Severity.REPAIRED,
                    stock=quoted(message),
                    helps=(self.remedy.help(("pass", str(self.remedy))),),
                )
                for finding in self.find(module.op)
            ]
            if found:
                passes = ",".join((*self.before, str(self.remedy)))
                run_pipeline(f"builtin.module({passes})", module.op, report=found.append)
            return found

        return PhaseHook(self.phase, str(self.remedy), act)


def _says(pattern: str) -> Callable[[PhaseFailed], bool]:
    return lambda failed: re.search(pattern, str(failed)) is not None


REWRITES = (
    Rewrite(
        TrimBorders(),
        BORDERS_TRIMMED_AT,
        lambda failed: failed.phase == BOUNDARIES_PLACED_AT,
        lambda module: check_unread_borders(unread_borders(module)),
    ),
    Rewrite(
        FinishBeforeLoops(),
        BOUNDARIES_PLACED_AT,
        _says(CIRCULAR_PARTITION),
        lambda module: check_shared_inits(shared_inits(module)),
    ),
    *(
        Rewrite(
            FillBytes(),
            BOUNDARIES_PLACED_AT,
            _says(pattern),
            lambda module: check_partial_bytes(partial_bytes(module)),
            APART,
        )
        for pattern in (PARTIAL_BYTES, PARTIAL_ROWS)
    ),
    Rewrite(
        HideStoredValues(branches=True),
        DISPATCHES_OUTLINED_AT,
        _says(WAITS_FOR_ITSELF),
        lambda module: check_updated_globals(updated_in_loops(module)),
    ),
    Rewrite(
        PassSizesOn(),
        BOUNDARIES_PLACED_AT,
        _says(SIZES_UNRESOLVED),
        lambda module: check_result_sizes(unsized(module)),
    ),
    *(
        Rewrite(
            PassOnWhileOperands(),
            BOUNDARIES_PLACED_AT,
            _says(pattern),
            lambda module: check_while_operands(untaken_operands(module)),
        )
        for pattern in (WHILE_OPERANDS_DIFFER, WHILE_TYPES_DIFFER)
    ),
    Rewrite(
        CopyBeforeLoops(),
        BOUNDARIES_PLACED_AT,
        _says(LOOP_TYPES_DIFFER),
        lambda module: check_passed_on(passed_on(module)),
    ),
    Rewrite(
        CopyBeforeLoops(constants=True),
        BOUNDARIES_PLACED_AT,
        _says(LOOP_TYPES_DIFFER),
        lambda module: check_passed_on(passed_on(module, constants=True)),
    ),
    *(
        Rewrite(
            InlineCalls(),
            INPUT_CONVERTED_AT,
            _says(pattern),
            lambda module: check_calls(kept_apart(module)),
        )
        # What is left where loops and branches pass on sizes and copies may be due to a call's result.
        for pattern in (CALL_TYPES_DIFFER, SIZES_UNRESOLVED, LOOP_TYPES_DIFFER, OPERAND_UNLINKED)
    ),
    Rewrite(
        ComputeAtLoad(),
        INPUT_CONVERTED_AT,
        # Code is generated in that phase for constants alone: whatever it says may be about them.
        lambda failed: failed.phase == BOUNDARIES_PLACED_AT,
        lambda module: check_evaluated(evaluated_values(module)),
    ),
)


def rewrites_for(failure: Failure | None) -> list[Rewrite]:
    """What may remove ``failure``, the most likely first; nothing where it is of another kind, or where no module could be read."""
    if not isinstance(failure, PhaseFailed) or failure.phase == "start":
        return []
    return [rewrite for rewrite in REWRITES if rewrite.refused(failure)]


def rewritable(run: CompileRun, failure: Failure | None) -> list[Finding]:
    """What may be behind ``failure``, as if it were repaired; empty where it is of another kind."""
    return next((found for one in rewrites_for(failure) if (found := would_rewrite(run, one, failure))), [])


def would_rewrite(run: CompileRun, rewrite: Rewrite, failure: Failure | None) -> list[Finding]:
    """What ``rewrite`` would repair of the program, about which IREE's message is that of ``failure``."""
    if phase_index(run.request.compile_from) > phase_index(rewrite.phase):
        return []
    module = run.parse()
    try:
        run.phase_pipeline.advance(module, rewrite.phase)
    except PhaseFailed:
        return []  # it fails before (an unknown target): nothing that this is for is to blame
    assert failure is not None
    try:
        return list(rewrite.hook(failure.message).act(module))
    except PassFailed:
        return []  # of an op that the remedy does not take
