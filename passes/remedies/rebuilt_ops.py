"""What every remedy needs that builds a structured op anew: its body copied, its own attributes kept."""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg

from .generic_ops import build_generic
from .narrow.packed_words import sizes_of


def elementwise(source: ir.Value, element: ir.Type, body: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """A tensor of ``element`` in the shape of ``source``, each element ``body`` of its; built at the insertion point."""
    init = tensor.EmptyOp(sizes_of(source), element).result
    rank = ir.RankedTensorType(source.type).rank
    identity = ir.AffineMap.get_identity(rank)
    op, block = build_generic([source], [init], [identity, identity], [True] * rank)
    with ir.InsertionPoint(block):
        linalg.YieldOp([body(block.arguments[0])])
    return op.results[0]


def copy_into(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Copies ``op`` to the insertion point, with ``values`` in place of its operands; its results are entered there."""
    new = op.clone()
    _remap(new, values)
    for before, after in zip(op.results, new.results, strict=False):
        values[before] = after


def _remap(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Replaces the operands of ``op``, and of the ops in its regions, by what stands for them."""
    for position, operand in enumerate(op.operands):
        if operand in values:
            op.operands[position] = values[operand]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _remap(inner.operation, values)
