"""A tensor with a border around it."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.passes.analysis.imports.stablehlo_ops import element_of, shape_of


def bordered(value: ir.Value, low: Sequence[int], high: Sequence[int], border: ir.Value) -> ir.Value:
    """``value`` with so many elements, all ``border``, before and behind it in each dimension."""
    unknown = ir.ShapedType.get_dynamic_size()
    shape = [
        unknown if size == unknown else size + before + behind
        for size, before, behind in zip(shape_of(value), low, high, strict=True)
    ]
    made = ir.RankedTensorType.get(shape, element_of(value))
    pad = tensor.PadOp(made, value, [], [], list(low), list(high))
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * len(shape))
    with ir.InsertionPoint(block):
        tensor.YieldOp(border)
    return pad.result
