"""The lifetimes of a whole module: each function that something outside may call is walked, with the calls that it makes."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of

from ..program.private_calls import CALLS, FUNCTIONS
from .explore import Walk, walk
from .flow import flow_of
from .kinds import ALLOCATIONS, RELEASES
from .steps import Flow

_OF_ANOTHER_PROGRAM = (".executable", ".executable.source")


@dataclass(frozen=True)
class Lifetimes:
    """What was seen of one function and of those that it calls."""

    function: ir.Operation
    flow: Flow
    walk: Walk

    @property
    def name(self) -> str:
        return text_of(self.function, "sym_name")


def lifetimes_of(module: ir.Operation) -> list[Lifetimes]:
    """One entry for each function that makes or releases storage, itself or through its calls."""
    functions = functions_of(module)
    touching = _touching(functions)
    private = {name for name, f in functions.items() if str(attribute(f, "sym_visibility")) == '"private"'}
    called = {name for f in functions.values() for name in callees_of(f)}
    found: list[Lifetimes] = []
    followed: set[str] = set()
    first = [name for name in functions if name not in private or name not in called]
    for name in (*first, *(name for name in functions if name not in first)):
        if name not in touching or (name not in first and name in followed):
            continue
        flow = flow_of(functions[name], functions)
        followed |= flow.followed
        found.append(Lifetimes(functions[name], flow, walk(flow)))
    return found


def functions_of(module: ir.Operation) -> dict[str, ir.Operation]:
    """Functions with a body by name, those of executables left out: a dispatch has other rules."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.endswith(_OF_ANOTHER_PROGRAM):
            return ir.WalkResult.SKIP
        if op.name in FUNCTIONS:
            if len(op.regions[0].blocks):
                found.append(op)
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return {text_of(f, "sym_name"): f for f in found}


def _touching(functions: dict[str, ir.Operation]) -> set[str]:
    """Functions in which storage is made or released, by themselves or by what they call."""
    own = {name for name, f in functions.items() if _has(f, (*ALLOCATIONS, *RELEASES))}
    while True:
        more = {name for name, f in functions.items() if name not in own and own & set(callees_of(f))}
        if not more:
            return own
        own |= more


def _has(function: ir.Operation, names: tuple[str, ...]) -> bool:
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or op.name in names
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def callees_of(function: ir.Operation) -> list[str]:
    """The names of the functions that ``function`` calls, in program order."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in CALLS:
            found.append(text_of(op, "callee"))
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
