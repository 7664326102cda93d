"""Functions that call themselves: IREE does not end on them, so the compile ends before it begins to."""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.analysis.program.call_cycles import call_cycles
from fissile.passes.checks.refusals.call_cycle import check_call_cycles
from fissile.passes.containment import contained
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import CALLS_FOLLOWED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, phase_index
from .guard import GUARDED_AT

FOLDED = "builtin.module(canonicalize,cse,symbol-dce)"
"""What IREE does with a module before it follows its calls (FoldGlobals, in global optimisation): a call in a branch that is never
taken, and a function that nobody calls, are gone then."""


def recursion(to: str) -> PhaseHook:
    """Raises PassFailed with FIS145 where a compile to phase ``to`` would not end."""

    def act(module: Module) -> list[Finding]:
        if phase_index(to) >= phase_index(CALLS_FOLLOWED_AT) and (found := findings_of(module)):
            raise PassFailed(found)
        return []

    return PhaseHook(GUARDED_AT, "recursion", act)


def stop_on_recursion(module: Module, to: str) -> None:
    """The same for a module that was parsed at the hook's phase or a later one, which the hook does not see."""
    if phase_index(GUARDED_AT) <= phase_index(module.phase) < phase_index(CALLS_FOLLOWED_AT):
        hook = recursion(to)
        contained(hook.name, lambda: hook.act(module), [])


def findings_of(module: Module) -> list[Finding]:
    """FIS145 of each cycle of calls in ``module`` (phase input, abi or preprocessing), which is not changed."""
    if not call_cycles(module.op):
        return []
    from ...pass_runner import run_pipeline

    clone = module.clone()
    run_pipeline(FOLDED, clone.op, report=lambda _finding: None)
    return check_call_cycles(call_cycles(clone.op))
