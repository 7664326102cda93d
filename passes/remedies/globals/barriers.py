"""Values that IREE's passes do not look through."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes

_MADE_BY = (iree_ops.FLOW_DISPATCH, iree_ops.FLOW_TENSOR_OPS, "tensor.", "arith.constant")


def hide_operand(op: ir.Operation, number: int = 0, branches: bool = False) -> None:
    """Puts an optimisation barrier before operand ``number`` of ``op``, a tensor that the device makes in front of it; its sizes at run time
    stay known. ``branches``: where that is the result of a branch, before what the branch yields.

    What a loop or a branch passes on, and what is loaded from a global, is left as it is: IREE 3.13 has a timepoint beside it, and does not wait
    for that before a barrier (PropagateTimepoints)."""
    owner = op.operands[number].owner
    if isinstance(owner, ir.Block):
        return
    if branches and owner.name == "scf.if":
        result = next(i for i, one in enumerate(owner.operation.results) if one == op.operands[number])
        for region in owner.operation.regions:
            for block in region.blocks:
                hide_operand(block.operations[len(block.operations) - 1].operation, result, branches)
        return
    if not owner.operation.name.startswith(_MADE_BY):
        return
    with ir.InsertionPoint(op), op.location:
        tensor = op.operands[number]
        sizes = dynamic_sizes(tensor)
        held = ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [tensor.type], [tensor]).result
        op.operands[number] = (
            ir.Operation.create(iree_ops.FLOW_TENSOR_TIE_SHAPE, [tensor.type], [held, *sizes]).result
            if sizes
            else held
        )
