"""Values that IREE's passes do not look through."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes


def hide_operand(op: ir.Operation) -> None:
    """Puts an optimisation barrier before the first operand of ``op``, a tensor; its sizes at run time stay known."""
    with ir.InsertionPoint(op), op.location:
        tensor = op.operands[0]
        sizes = dynamic_sizes(tensor)
        held = ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [tensor.type], [tensor]).result
        op.operands[0] = (
            ir.Operation.create(iree_ops.FLOW_TENSOR_TIE_SHAPE, [tensor.type], [held, *sizes]).result
            if sizes
            else held
        )
