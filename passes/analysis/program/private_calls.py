"""Which calls reach a private function."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attributes, text_of
from fissile.passes.iree import ops as iree_ops

FUNCTIONS = ("func.func", iree_ops.UTIL_FUNC)


def calls_of_private_functions(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """Private function -> its calls; only functions of which every use is a call."""
    private: dict[str, list[ir.Operation]] = {}
    calls: list[ir.Operation] = []
    other: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if (
            op.name in FUNCTIONS
            and "sym_visibility" in op.attributes
            and str(op.attributes["sym_visibility"]) == '"private"'
        ):
            private[text_of(op, "sym_name")] = []
        if op.name in ("func.call", iree_ops.UTIL_CALL):
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
