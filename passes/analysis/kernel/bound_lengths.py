"""How many bytes does a program bind to each binding of a dispatch? What lies behind them, a shader neither reads nor writes."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..dispatch.dispatches import Dispatch, constant_of

_DISPATCH = iree_ops.STREAM_CMD_DISPATCH


def bound_lengths(dispatch: Dispatch) -> dict[int, int | None]:
    """By the binding's number, the fewest bytes that any call of ``dispatch`` binds; None where a call computes them.

    Empty where no call is seen: the executable stands by itself.
    """
    found: dict[int, int | None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == _DISPATCH and _calls(op, dispatch.name):
            for number, length in enumerate(map(constant_of, view_of(op).resource_lengths)):
                before = found.get(number, length)
                found[number] = None if before is None or length is None else min(before, length)
        return ir.WalkResult.ADVANCE

    module = dispatch.executable.parent
    for op in module.regions[0].blocks[0].operations if module is not None else ():
        if op.operation.name != iree_ops.HAL_EXECUTABLE:
            op.operation.walk(visit)
    return found


def _calls(op: ir.Operation, name: str) -> bool:
    """Whether an entry point of the call, ``@executable::@variant::@name``, is the function called ``name``."""
    return any(ir.SymbolRefAttr(entry).value[-1] == name for entry in view_of(op).entry_points)
