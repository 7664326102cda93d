"""Which calls reach a private function."""

from __future__ import annotations

from iree.compiler import ir

FUNCTIONS = ("func.func", "util.func")


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
            private[ir.StringAttr(op.attributes["sym_name"]).value] = []
        if op.name in ("func.call", "util.call"):
            calls.append(op)
        elif op.name not in FUNCTIONS:
            for named in op.attributes:
                try:
                    attribute = op.attributes[named] if isinstance(named, str) else named.attr
                except TypeError:  # a complex constant has no Python type, and names no function
                    continue
                if isinstance(attribute, ir.FlatSymbolRefAttr):
                    other.add(attribute.value)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    for call in calls:
        name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if name in private:
            private[name].append(call)
    return {name: found for name, found in private.items() if name not in other}
