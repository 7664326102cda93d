"""Can a module be checked at all, and which functions does it offer?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fissile.dialect.attributes import text_of
from fissile.errors import UsageError
from fissile.finding import Finding, Severity
from fissile.passes.checks.refusals.other_program import note_other_program, other_program
from fissile.passes.containment import contained
from fissile.passes.definition import PassFailed
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.phases import LAST_SHARED_PHASE

from ..compile.hooks.early_stops import endless_calls
from ..phase_pipeline import PhaseHook
from ..repair.failures import rejected
from ..session import Module, PhaseFailed, Session, phase_index

_EXECUTABLES = (
    iree_ops.HAL_EXECUTABLE,
    iree_ops.HAL_EXECUTABLE_SOURCE,
    iree_ops.HAL_EXECUTABLE_BINARY,
    iree_ops.STREAM_EXECUTABLE,
    iree_ops.FLOW_EXECUTABLE,
    iree_ops.VM_MODULE,
)
_FUNCTIONS = ("func.func", iree_ops.UTIL_FUNC)


def accepted(module: Module) -> tuple[list[str], tuple[str, ...]]:
    """The signatures of ``module``, as it was parsed, and what it is instead of a program of tensors, where it is none.

    Raises PassFailed where it has nothing to check or an attribute is wrong, UsageError where it has executables.
    """
    refuse_executables(module)
    if not (signatures := signatures_of(module)):
        raise PassFailed([no_functions(module)])
    if module.marks.wrong:
        raise PassFailed(list(module.marks.wrong))
    return signatures, contained("the kind of program", lambda: other_program(module.op), ())


def refuse_executables(module: Module) -> None:
    """Raises UsageError for what is formed, or compiled, already."""
    for op in module.op.regions[0].blocks[0].operations:
        if op.operation.name in _EXECUTABLES:
            raise UsageError(
                f"the module already contains executables or compiled code ({op.operation.name})",
                "check needs the program before its dispatches are formed: the input of iree-compile",
            )


def signatures_of(module: Module) -> list[str]:
    """`name: type` of every public function."""
    found = []
    for op in module.op.regions[0].blocks[0].operations:
        operation = op.operation
        if operation.name in _FUNCTIONS and "sym_name" in operation.attributes:
            visibility = (
                operation.attributes["sym_visibility"] if "sym_visibility" in operation.attributes else None
            )
            if visibility is None or str(visibility) == '"public"':
                name = text_of(operation, "sym_name")
                signature = (
                    str(operation.attributes["function_type"])
                    if "function_type" in operation.attributes
                    else ""
                )
                found.append(f"{name}: {signature}")
    return found


def no_functions(module: Module) -> Finding:
    """FIS003 for ``module``; with what it is instead."""
    finding = Finding(
        "FIS003",
        "the module has no functions: there is nothing to check",
        Severity.ERROR,
        notes=("give a module with at least one public function",),
    )
    return contained("the kind of program", lambda: note_other_program(finding, module.op), finding)


def refused_by_iree(failure: PhaseFailed, instead: Sequence[str]) -> Finding:
    """A finding for what IREE refuses; ``instead`` says what the program is instead of one of tensors."""
    finding = rejected(failure)
    return finding.with_(notes=(*finding.notes, *instead))


def refuse_recursion(module: Module) -> None:
    """Raises PassFailed where IREE would not end on ``module`` (phase input)."""
    if endless := contained("recursion", lambda: endless_calls(module), []):
        raise PassFailed(endless)


def resumed(session: Session, shared: Path) -> Module:
    """The module that all targets share; its locations name the source file."""
    return session.parse(shared).stands_at(LAST_SHARED_PHASE)


def caught_up(module: Module, rewrites: Iterable[PhaseHook]) -> list[Finding]:
    """Runs those of ``rewrites`` on ``module`` whose phase it has passed: what all targets share was made before they were known."""
    here = phase_index(module.phase)
    return [finding for hook in rewrites if phase_index(hook.phase) <= here for finding in hook.act(module)]
