"""Reshapes and pads whose sizes are operands, written with ops of tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.passes.analysis.imports.stablehlo_ops import (
    DYNAMIC_PAD,
    DYNAMIC_RESHAPE,
    PAD,
    constant_integers,
    element_of,
    has_static_shape,
    known_integers,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .sizes import Size, as_value, host_integers, index, minus, sizes_in
from .values import bits_as, without_sign

_AMOUNTS = ("edge_padding_low", "edge_padding_high", "interior_padding")


@register_pass
@dataclass(frozen=True)
class LowerDynamicShapes(FrontEndRemedy):
    """Writes `stablehlo.dynamic_reshape` as `tensor.reshape`, and a `stablehlo.dynamic_pad`, or a `stablehlo.pad` that takes elements of an
    unknown size away, without padding between elements as `tensor.pad` and, where an amount may be negative, `tensor.extract_slice`.

    IREE 3.13 lowers none of them, unless its sizes turn out to be constants. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-lower-dynamic-shapes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (DYNAMIC_RESHAPE, DYNAMIC_PAD, PAD)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith")
    does: ClassVar[str] = (
        "replaces `stablehlo.dynamic_reshape` by `tensor.reshape`, and `stablehlo.dynamic_pad`, and `pad` with negative amounts, without interior padding by "
        "`tensor.pad` and `tensor.extract_slice` (in the input)"
    )
    repairs: ClassVar[str] = "these ops, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with ops of tensor"
    advice: ClassVar[str] = "rewrite it with ops of tensor"

    def fits(self, op: ir.Operation) -> bool:
        if op.name == DYNAMIC_RESHAPE:
            return not has_static_shape(op.results[0].type)
        if op.name == PAD:
            low, high, inside = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in _AMOUNTS)
            return not has_static_shape(op.operands[0].type) and min((*low, *high)) < 0 and not any(inside)
        between = known_integers(op.operands[4])
        amounts = [constant_integers(op.operands[n]) for n in (2, 3)]
        return between is not None and not any(between) and None in amounts

    def written(self, op: ir.Operation) -> list[ir.Value]:
        element = element_of(op.results[0])
        value = (_reshaped if op.name == DYNAMIC_RESHAPE else _padded)(op, without_sign(op.operands[0]))
        made = ir.RankedTensorType.get(shape_of(op.results[0]), element_of(value))
        value = value if value.type == made else tensor.CastOp(made, value).result
        return [bits_as(value, element)]


def _reshaped(op: ir.Operation, value: ir.Value) -> ir.Value:
    made = ir.RankedTensorType.get(shape_of(op.results[0]), element_of(value))
    return tensor.ReshapeOp(made, value, host_integers(op.operands[1])).result


def _padded(op: ir.Operation, value: ir.Value) -> ir.Value:
    low, high = _amounts(op)
    border = tensor.ExtractOp(without_sign(op.operands[1]), []).result
    before, after = [_at_least_0(one) for one in low], [_at_least_0(one) for one in high]
    value = _pad(value, before, after, border)
    if all(isinstance(one, int) and one >= 0 for one in (*low, *high)):
        return value
    starts = [minus(edge, one) for edge, one in zip(before, low, strict=True)]
    ends = [minus(edge, one) for edge, one in zip(after, high, strict=True)]
    whole = [tensor.DimOp(value, index(dim)).result for dim in range(len(low))]
    sizes = [minus(minus(size, start), end) for size, start, end in zip(whole, starts, ends, strict=True)]
    unknown = ir.ShapedType.get_dynamic_size()
    made = ir.RankedTensorType.get([unknown] * len(low), element_of(value))
    dynamic = [one for one in starts if isinstance(one, ir.Value)]
    static = [unknown if isinstance(one, ir.Value) else one for one in starts]
    return tensor.ExtractSliceOp(
        made,
        value,
        dynamic,
        [as_value(one) for one in sizes],
        [],
        static,
        [unknown] * len(low),
        [1] * len(low),
    ).result


def _amounts(op: ir.Operation) -> tuple[list[Size], list[Size]]:
    """Before and behind each dimension."""
    if op.name == PAD:
        low, high = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in _AMOUNTS[:2])
        return low, high
    return sizes_in(op.operands[2]), sizes_in(op.operands[3])


def _pad(value: ir.Value, low: list[Size], high: list[Size], border: ir.Value) -> ir.Value:
    unknown = ir.ShapedType.get_dynamic_size()
    shape = [
        size + before + after
        if size != unknown and isinstance(before, int) and isinstance(after, int)
        else unknown
        for size, before, after in zip(shape_of(value), low, high, strict=True)
    ]
    made = ir.RankedTensorType.get(shape, element_of(value))
    pad = tensor.PadOp(
        made,
        value,
        [one for one in low if isinstance(one, ir.Value)],
        [one for one in high if isinstance(one, ir.Value)],
        [unknown if isinstance(one, ir.Value) else one for one in low],
        [unknown if isinstance(one, ir.Value) else one for one in high],
    )
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * len(low))
    with ir.InsertionPoint(block):
        tensor.YieldOp(border)
    return pad.result


def _at_least_0(size: Size) -> Size:
    return max(size, 0) if isinstance(size, int) else arith.maxsi(size, index(0))
