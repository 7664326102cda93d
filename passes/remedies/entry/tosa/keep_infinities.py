"""The extremes of TOSA, over elements that may all be infinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attribute
from fissile.passes.analysis.imports.tosa.infinite_extremes import EXTREMES, REDUCTIONS, may_be_infinite
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.values import with_element

_POOL = "tosa.max_pool2d"
_GEOMETRY = ("axis", "kernel", "stride", "pad")
"""The attributes of an extreme besides what it does with a NaN."""


@register_pass
@dataclass(frozen=True)
class KeepInfinities(FrontEndRemedy):
    """Writes an extreme of floats, of which all may be infinite, as a reduction or a pool that starts at infinity.

    IREE 3.13's import of TOSA starts them at the largest finite number, which then is the largest element of a window of negative infinities (FIS211).
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-keep-infinities"
    cures: ClassVar[tuple[str, ...]] = ("FIS211",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = EXTREMES
    dialects: ClassVar[tuple[str, ...]] = ("tosa", "arith", "linalg", "tensor")
    does: ClassVar[str] = (
        "writes `tosa.reduce_max`, `tosa.reduce_min` and `tosa.max_pool2d` of floats that may be infinite as reductions and pools that start at infinity "
        "(in the input)"
    )
    repairs: ClassVar[str] = (
        "such an extreme of elements that are all infinite, which IREE makes the largest finite number: wrong numbers on every target (FIS211)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it as a reduction or a pool that starts at infinity"
    advice: ClassVar[str] = "write it as a reduction or a pool that starts at infinity"

    def named(self, op: ir.Operation) -> str:
        return op.name

    def fits(self, op: ir.Operation) -> bool:
        return may_be_infinite(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value = op.operands[0]
        if "IGNORE" not in str(attribute(op, "nan_mode")):
            return [_extreme(op, value)]
        element = with_element(value.type, ir.IntegerType.get_signless(1))
        numbers = _tosa("tosa.equal", element, value, value)
        identity = _constant(value, float("-inf" if _is_largest(op) else "inf"))
        extreme = _extreme(op, _tosa("tosa.select", value.type, numbers, value, identity))
        ones = _tosa("tosa.select", value.type, numbers, _constant(value, 1.0), _constant(value, 0.0))
        largest = REDUCTIONS[0] if op.name in REDUCTIONS else op.name  # 1 where one element is a number
        held = {name: attribute(op, name) for name in _GEOMETRY if name in op.attributes}
        counted = ir.Operation.create(largest, [op.results[0].type], [ones], held).results[0]
        some = _tosa("tosa.greater", with_element(counted.type, ir.IntegerType.get_signless(1)), counted, _constant(counted, 0.0))  # fmt: skip
        return [_tosa("tosa.select", counted.type, some, extreme, _constant(counted, float("nan")))]


def _is_largest(op: ir.Operation) -> bool:
    return op.name != REDUCTIONS[1]


def _tosa(name: str, type_: ir.Type, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, [type_], list(operands)).results[0]


def _constant(like: ir.Value, number: float) -> ir.Value:
    """A tensor of one element and of the rank of ``like``, which TOSA broadcasts."""
    type_ = ir.RankedTensorType(like.type)
    single = ir.RankedTensorType.get([1] * type_.rank, type_.element_type)
    held = ir.DenseElementsAttr.get([ir.FloatAttr.get(type_.element_type, number)], single)
    return ir.Operation.create("tosa.const", [single], [], {"values": held}).results[0]


def _extreme(op: ir.Operation, value: ir.Value) -> ir.Value:
    element = ir.RankedTensorType(value.type).element_type
    identity = arith.ConstantOp(element, ir.FloatAttr.get(element, float("-inf" if _is_largest(op) else "inf"))).result  # fmt: skip
    made = _pooled(op, value, identity) if op.name == _POOL else _reduced(op, value, identity)
    result = op.results[0].type
    return made if made.type == result else tensor.CastOp(result, made).result


def _reduced(op: ir.Operation, value: ir.Value, identity: ir.Value) -> ir.Value:
    axis = _integers(op, "axis")[0]
    type_ = ir.RankedTensorType(value.type)
    kept = [dim for dim in range(type_.rank) if dim != axis]
    init = linalg.fill(identity, outs=[_empty([_size(value, dim) for dim in kept], type_.element_type)])
    every = ir.AffineMap.get_identity(type_.rank)
    maps = [every, every.get_submap(kept)]
    generic, block = build_generic([value], [init], maps, [dim != axis for dim in range(type_.rank)])
    combine = arith.maximumf if _is_largest(op) else arith.minimumf
    with ir.InsertionPoint(block):
        linalg.YieldOp([combine(*block.arguments)])
    return _with_axis(generic.results[0], axis)


def _with_axis(value: ir.Value, axis: int) -> ir.Value:
    """``value`` with a dimension of one element at ``axis``."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [_size(value, dim) for dim in range(type_.rank)]
    sizes.insert(axis, 1)
    static, dynamic = _split(sizes)
    made = ir.RankedTensorType.get(static, type_.element_type)
    groups = [[dim + (dim >= axis)] for dim in range(type_.rank)]
    if groups:
        groups[max(axis - 1, 0)] = sorted({*groups[max(axis - 1, 0)], axis})
    return tensor.ExpandShapeOp(made, value, groups, dynamic, static).result


def _pooled(op: ir.Operation, value: ir.Value, identity: ir.Value) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    kernel, stride, border = (_integers(op, name) for name in ("kernel", "stride", "pad"))
    if any(border):
        value = _padded(value, border, identity)
    sizes = [_size(value, dim) for dim in range(4)]
    for dim, (window, step) in enumerate(zip(kernel, stride, strict=True), 1):
        sizes[dim] = _windows(sizes[dim], window, step)
    init = linalg.fill(identity, outs=[_empty(sizes, type_.element_type)])
    window = _empty(kernel, type_.element_type)
    held = {name: ir.DenseElementsAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(64), one) for one in numbers], type=ir.VectorType.get([2], ir.IntegerType.get_signless(64)))
            for name, numbers in (("strides", stride), ("dilations", [1, 1]))}  # fmt: skip
    return linalg.named("linalg.pooling_nhwc_max", [value, window], init, held)


def _padded(value: ir.Value, border: Sequence[int], identity: ir.Value) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    top, bottom, left, right = border
    low, high = [0, top, left, 0], [0, bottom, right, 0]
    sizes = [
        size if isinstance(size, ir.Value) else size + before + after
        for size, before, after in zip((_size(value, dim) for dim in range(4)), low, high, strict=True)
    ]
    made = ir.RankedTensorType.get(_split(sizes)[0], type_.element_type)
    pad = tensor.PadOp(made, value, [], [], low, high)
    index = ir.IndexType.get()
    with ir.InsertionPoint(pad.regions[0].blocks.append(index, index, index, index)):
        tensor.YieldOp(identity)
    return pad.result


def _windows(size: int | ir.Value, window: int, step: int) -> int | ir.Value:
    """How many of them fit."""
    if not isinstance(size, ir.Value):
        return (size - window) // step + 1

    def number(value: int) -> ir.Value:
        return arith.ConstantOp(ir.IndexType.get(), value).result

    fitting = arith.divsi(arith.subi(size, number(window)), number(step))
    return arith.addi(fitting, number(1))


def _integers(op: ir.Operation, name: str) -> list[int]:
    held = attribute(op, name)
    if isinstance(held, ir.IntegerAttr):
        return [held.value]
    assert isinstance(held, ir.DenseI64ArrayAttr), held
    return list(held)


def _size(value: ir.Value, dim: int) -> int | ir.Value:
    type_ = ir.RankedTensorType(value.type)
    if not type_.is_dynamic_dim(dim):
        return type_.get_dim_size(dim)
    return tensor.DimOp(value, arith.ConstantOp(ir.IndexType.get(), dim).result).result


def _split(sizes: Sequence[int | ir.Value]) -> tuple[list[int], list[ir.Value]]:
    """Static sizes, with MLIR's mark where they are dynamic, and the dynamic ones."""
    dynamic = ir.ShapedType.get_dynamic_size()
    static = [dynamic if isinstance(size, ir.Value) else size for size in sizes]
    return static, [size for size in sizes if isinstance(size, ir.Value)]


def _empty(sizes: Sequence[int | ir.Value], element: ir.Type) -> ir.Value:
    return tensor.EmptyOp(list(sizes), element).result
