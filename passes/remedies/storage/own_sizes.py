"""Ops that list the sizes of their tensors, once a check compares both: they list the tensor's own sizes.

IREE looks for the size of an argument in the ops that list one (`findDynamicDims` of its util dialect, 3.13), takes the
listed value for it wherever the size is read, and folds a check that compares the two. Where the op goes away later,
because nothing uses what it reads, every other check of that tensor is left with the listed value.
"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.storage.flow_rules import listed_sizes


def list_own_sizes(extents: Extents, ops: Iterable[ir.Operation]) -> None:
    """Replaces the dynamic sizes that ``ops`` list for their operands by `tensor.dim` of these operands."""
    for op in dict.fromkeys(ops):
        with op.context, op.location:
            for value, name, number, dimension in list(listed_sizes(op)):
                if not isinstance(value.type, ir.RankedTensorType) or value not in list(op.operands):
                    continue  # a tensor that the op makes has the sizes that it lists
                if extents.value(list(getattr(view_of(op), name))[number]) == extents.dimension(
                    value, dimension
                ):
                    continue
                at = ir.InsertionPoint(op)
                size = tensor.dim(value, arith.constant(ir.IndexType.get(), dimension, ip=at), ip=at)
                _replace(op, name, number, size)


def _replace(op: ir.Operation, name: str, number: int, new: ir.Value) -> None:
    """Sets one of the operands called ``name``: the binding sets operands by position only, and reads them by name."""
    old = list(getattr(view_of(op), name))[number]
    for position, value in enumerate(list(op.operands)):
        if value == old:
            op.operands[position] = new
            if list(getattr(view_of(op), name))[number] == new:
                return
            op.operands[position] = old
