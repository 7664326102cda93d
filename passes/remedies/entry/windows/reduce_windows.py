"""Reductions of windows over a tensor with an unknown size, as a `linalg.generic` over the windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.imports.stablehlo_ops import (
    ADD,
    AND,
    MULTIPLY,
    OR,
    REDUCE_WINDOW,
    element_of,
    has_static_shape,
    is_unsigned,
    shape_of,
    width_of,
)
from fissile.passes.analysis.imports.tied_selections import Windows, windows_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.sizes import as_value, index
from ..stablehlo.values import bits_as, without_sign
from .bordered import bordered

_MAXIMUM, _MINIMUM, _RETURN = "stablehlo.maximum", "stablehlo.minimum", "stablehlo.return"
_FLOATS = {ADD: arith.addf, MULTIPLY: arith.mulf, _MAXIMUM: arith.maximumf, _MINIMUM: arith.minimumf}
_INTEGERS = {ADD: arith.addi, MULTIPLY: arith.muli, AND: arith.andi, OR: arith.ori}
_SIGNED = {**_INTEGERS, _MAXIMUM: arith.maxsi, _MINIMUM: arith.minsi}
_UNSIGNED = {**_INTEGERS, _MAXIMUM: arith.maxui, _MINIMUM: arith.minui}
_BOOLEANS = {ADD: arith.ori, OR: arith.ori, _MAXIMUM: arith.ori, MULTIPLY: arith.andi, AND: arith.andi, _MINIMUM: arith.andi}  # fmt: skip
Combine = Callable[[ir.Value, ir.Value], ir.Value]


@register_pass
@dataclass(frozen=True)
class ReduceWindows(FrontEndRemedy):
    """Writes a `stablehlo.reduce_window` of one tensor with an unknown size, by one op, as a pad and a reduction of linalg.

    IREE 3.13 lowers it only where all sizes are known, but for poolings of floats over the middle dimensions of four. Run it on the program as
    it was imported.
    """

    name: ClassVar[str] = "fissile-reduce-windows"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (REDUCE_WINDOW,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg")
    does: ClassVar[str] = (
        "replaces a `stablehlo.reduce_window` over an unknown size by a reduction of linalg (in the input)"
    )
    repairs: ClassVar[str] = (
        "poolings and running sums of a batch whose size is not known, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a reduction of linalg"
    advice: ClassVar[str] = "rewrite it as a reduction of linalg"

    def fits(self, op: ir.Operation) -> bool:
        if len(op.operands) != 2 or len(op.results) != 1 or has_static_shape(op.operands[0].type):
            return False
        dilated = "base_dilations" in op.attributes and set(ir.DenseI64ArrayAttr(op.attributes["base_dilations"])) - {1}  # fmt: skip
        windows = windows_of(op)
        return (
            not dilated and min((*windows.low, *windows.high), default=0) >= 0 and _combined(op) is not None
        )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, init = (without_sign(one) for one in op.operands)
        windows, dilations, combine = windows_of(op), _dilations(op), _combined(op)
        assert combine is not None  # `fits`
        start = tensor.ExtractOp(init, []).result
        padded = bordered(value, windows.low, windows.high, start) if windows.are_padded else value
        rank, element = len(windows.sizes), element_of(value)
        sizes = [_count(padded, dim, windows, dilations[dim]) for dim in range(rank)]
        filled = linalg.fill(start, outs=[tensor.EmptyOp(sizes, element).result])
        window = tensor.EmptyOp(list(windows.sizes), element).result
        places = [ir.AffineDimExpr.get(dim) for dim in range(2 * rank)]
        steps = zip(places[:rank], windows.strides, places[rank:], dilations, strict=True)
        read = [at * stride + inside * dilation for at, stride, inside, dilation in steps]
        maps = [ir.AffineMap.get(2 * rank, 0, exprs) for exprs in (read, places[rank:], places[:rank])]
        parallel = [True] * rank + [False] * rank
        made, body = build_generic([padded, window], [filled], maps, parallel)
        with ir.InsertionPoint(body):
            linalg.YieldOp([combine(body.arguments[2], body.arguments[0])])
        kind = ir.RankedTensorType.get(shape_of(op.results[0]), element)
        result = made.results[0]
        result = result if result.type == kind else tensor.CastOp(kind, result).result
        return [bits_as(result, element_of(op.results[0]))]


def _dilations(op: ir.Operation) -> list[int]:
    rank = len(shape_of(op.operands[0]))
    if "window_dilations" not in op.attributes:
        return [1] * rank
    return list(ir.DenseI64ArrayAttr(op.attributes["window_dilations"]))


def _count(padded: ir.Value, dim: int, windows: Windows, dilation: int) -> int | ir.Value:
    """How many windows there are along ``dim``."""
    span = (windows.sizes[dim] - 1) * dilation + 1
    stride = windows.strides[dim]
    type_ = ir.RankedTensorType(padded.type)
    if not type_.is_dynamic_dim(dim):
        return max(type_.get_dim_size(dim) - span + stride, 0) // stride
    size = tensor.DimOp(padded, index(dim)).result
    if span == stride == 1:
        return size
    behind = arith.addi(size, as_value(stride - span))
    least = arith.maxsi(behind, index(0))
    return arith.divui(least, index(stride))


def _combined(op: ir.Operation) -> Combine | None:
    """How ``op`` combines two elements, if its region is one op on its two arguments."""
    block = op.regions[0].blocks[0]
    rows = [row.operation for row in block.operations]
    if len(rows) != 2 or rows[1].name != _RETURN or len(rows[0].operands) != 2:
        return None
    if {*map(hash, rows[0].operands)} != {*map(hash, block.arguments)}:
        return None
    if list(rows[1].operands) != list(rows[0].results):
        return None
    element = element_of(op.operands[0])
    if isinstance(element, ir.FloatType):
        return _FLOATS.get(rows[0].name)
    if not isinstance(element, ir.IntegerType):
        return None
    if width_of(element) == 1:
        return _BOOLEANS.get(rows[0].name)
    return (_UNSIGNED if is_unsigned(element) else _SIGNED).get(rows[0].name)
