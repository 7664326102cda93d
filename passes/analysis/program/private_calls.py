"""Which calls reach a private function, and whether one is certain to be made."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attributes, text_of
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import NEVER_INLINED

FUNCTIONS = ("func.func", iree_ops.UTIL_FUNC)
CALLS = ("func.call", iree_ops.UTIL_CALL)


def function_of(op: ir.Operation) -> str:
    """The name of the function that ``op`` stands in, or is; "" for none."""
    while op.parent is not None and op.name not in FUNCTIONS:
        op = op.parent.operation
    return text_of(op, "sym_name") if op.name in FUNCTIONS else ""


def calls_of_private_functions(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """Private function -> its calls; only functions of which every use is a call."""
    private: dict[str, list[ir.Operation]] = {}
    calls: list[ir.Operation] = []
    other: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in FUNCTIONS and _is_private(op):
            private[text_of(op, "sym_name")] = []
        if op.name in CALLS:
            calls.append(op)
        elif op.name not in FUNCTIONS:
            other.update(
                text_of(op, name) for name, held in attributes(op) if isinstance(held, ir.FlatSymbolRefAttr)
            )
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    for call in calls:
        name = text_of(call, "callee")
        if name in private:
            private[name].append(call)
    return {name: found for name, found in private.items() if name not in other}


def kept_apart(module: ir.Operation) -> list[tuple[ir.Operation, list[ir.Operation]]]:
    """The private functions of ``module`` that are called with values and that IREE is not to inline, each with its calls."""
    marked: dict[str, ir.Operation] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in FUNCTIONS:
            if any(name in op.attributes for name in NEVER_INLINED):
                marked[text_of(op, "sym_name")] = op
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    if not marked:
        return []
    calls = calls_of_private_functions(module)
    return [
        (marked[name], found)
        for name, found in calls.items()
        if name in marked and any(len(call.operands) or len(call.results) for call in found)
    ]


def certain_functions(module: ir.Operation) -> set[str]:
    """The functions that run whenever the program does what it is for: what callers see, and what these call outside of
    branches and loops."""
    bodies: dict[str, ir.Block] = {}
    pending: list[ir.Block] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.UTIL_INITIALIZER:
            pending.append(op.regions[0].blocks[0])
        elif op.name in FUNCTIONS and op.regions[0].blocks:
            bodies[text_of(op, "sym_name")] = op.regions[0].blocks[0]
            if not _is_private(op):
                found.add(text_of(op, "sym_name"))
        else:
            return ir.WalkResult.ADVANCE
        return ir.WalkResult.SKIP

    found: set[str] = set()
    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    pending += [bodies[name] for name in found]
    while pending:
        for op in pending.pop().operations:
            name = text_of(op.operation, "callee") if op.operation.name in CALLS else ""
            if name in bodies and name not in found:
                found.add(name)
                pending.append(bodies[name])
    return found


def _is_private(function: ir.Operation) -> bool:
    return (
        "sym_visibility" in function.attributes and str(function.attributes["sym_visibility"]) == '"private"'
    )
