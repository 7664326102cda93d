"""Parts of a tensor that are written to another place of the same tensor: IREE copies such a part inside of one buffer."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.operands import operand
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from .on_host import ops_on_host
from .shared_destinations import root_of

_SLICES = ("tensor.extract_slice", iree_ops.FLOW_TENSOR_SLICE)


@dataclass(frozen=True)
class MovedSlice:
    """``update`` writes operand number ``operand``, a part of the tensor that it writes to."""

    update: ir.Operation
    operand: int


def moved_slices(module: ir.Operation) -> list[MovedSlice]:
    """All of ``module`` before dispatches are formed, in program order."""
    found = []
    for op in ops_on_host(module):
        if op.name == "tensor.insert_slice":
            source, target = operand(op, "source"), operand(op, "dest")
        elif op.name == iree_ops.FLOW_TENSOR_UPDATE:
            source, target = view_of(op).update, view_of(op).target
        else:
            continue
        if source is None or target is None:
            continue
        part = root_of(source)
        if isinstance(part.owner, ir.Block) or part.owner.operation.name not in _SLICES:
            continue
        if root_of(part.owner.operation.operands[0]) == root_of(target):
            found.append(MovedSlice(op, list(op.operands).index(source)))
    return found
