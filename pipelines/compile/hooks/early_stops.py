"""Programs that no compile comes to a good end with, and that are known early: functions that call themselves, on which IREE does not
end (FIS145), and constants whose data the module does not have (FIS415)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from iree.compiler import ir

from fissile.dialect.source_text import BYTECODE
from fissile.finding import Finding
from fissile.passes.analysis.legality.constant_data import Lacking, lacking_data
from fissile.passes.analysis.program.call_cycles import call_cycles
from fissile.passes.checks.legality.constant_data import check_constant_data
from fissile.passes.checks.refusals.call_cycle import check_call_cycles
from fissile.passes.containment import contained
from fissile.passes.definition import PassFailed
from fissile.passes.iree.flags import ELIDED_AS_ZERO, is_on
from fissile.passes.iree.phases import CALLS_FOLLOWED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module, phase_index
from .guard import GUARDED_AT

FOLDED = "builtin.module(canonicalize,cse,symbol-dce)"
"""What IREE does with a module before it follows its calls (FoldGlobals, in global optimisation): a call in a branch that is never
taken, and a function that nobody calls, are gone then."""

_READ_BY = "builtin.module(symbol-dce,cse)"
"""Takes away what nobody reads; canonicalisation would fold ops on the constants as well."""
_RESOURCE = b"dense_resource"
_SERIALISED_AT = "end"
"""Where IREE needs the elements of a constant."""


def recursion(to: str) -> PhaseHook:
    """Raises PassFailed with FIS145 where a compile to phase ``to`` would not end."""

    def act(module: Module) -> list[Finding]:
        if phase_index(to) >= phase_index(CALLS_FOLLOWED_AT) and (found := endless_calls(module)):
            raise PassFailed(found)
        return []

    return PhaseHook(GUARDED_AT, "recursion", act)


def stop_early(module: Module, source: bytes, to: str, flags: Sequence[str]) -> None:
    """Raises PassFailed with what is known of ``module``, which has just been parsed from ``source``: FIS415, and FIS145 where it was parsed at the phase of
    `recursion` or a later one, which that hook does not see."""
    look = partial(lacking_constants, module, source, to, flags)
    found = contained("constants without data", look, [])
    if (
        phase_index(GUARDED_AT)
        <= phase_index(module.phase)
        < phase_index(CALLS_FOLLOWED_AT)
        <= phase_index(to)
    ):
        found += contained("recursion", lambda: endless_calls(module), [])
    if found:
        raise PassFailed(found)


def endless_calls(module: Module) -> list[Finding]:
    """FIS145 of each cycle of calls in ``module`` (phase input, abi or preprocessing), which is not changed."""
    if not call_cycles(module.op):
        return []
    return check_call_cycles(call_cycles(_without_unused(module, FOLDED)))


def lacking_constants(module: Module, source: bytes, to: str, flags: Sequence[str]) -> list[Finding]:
    """FIS415 of the constants of ``module`` that something reads, where a compile to phase ``to`` writes them; it is not changed."""
    if to != _SERIALISED_AT or not (_RESOURCE in source or source.startswith(BYTECODE)):
        return []
    zeros = is_on(flags, ELIDED_AS_ZERO)

    def lacking(root: ir.Operation) -> list[Lacking]:
        return [one for one in lacking_data(root.operation) if not (zeros and one.is_elided)]

    if not lacking(module.op):
        return []
    kept = _without_unused(module, _READ_BY)
    return check_constant_data(lacking(kept))


def _without_unused(module: Module, pipeline: str) -> ir.Operation:
    from ...pass_runner import run_pipeline

    clone = module.clone()
    run_pipeline(pipeline, clone.op, report=lambda _finding: None)
    return clone.op
