"""Ops of ONNX whose borders and positions depend on a size that the call decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.analysis.imports.unknown_sizes import (
    CHANNELS,
    CROP,
    EXTREMES,
    SAME,
    integers,
    number,
    real,
    takes_unknown_sizes,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_MAX_POOL, _AVERAGE_POOL = "onnx.MaxPool", "onnx.AveragePool"
_SPATIAL = 2
"""The dimensions in front of those that a window moves over."""


@register_pass
@dataclass(frozen=True)
class MeasureSizes(FrontEndRemedy):
    """Computes the borders of a pool, the last of equal elements, and what is cropped, from the size that the call decides.

    IREE 3.13 computes them as it imports the program, with -1 for an unknown size (FIS168). A pool is written as one without borders over a
    padded image. An average that does not count the border is divided by that of ones. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-measure-sizes"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS168")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "writes `onnx.MaxPool`, `AveragePool` and `LpPool` with `auto_pad`, a `MaxPool` with other borders before than after, `ArgMax` and `ArgMin` with `select_last_index`, `CenterCropPad` and `LRN` "
        "with sizes that are computed at run time (in the input)"
    )
    repairs: ClassVar[str] = (
        "such ops over an unknown size, which IREE takes to be -1: wrong numbers on every target (FIS168)"
    )
    numbers: ClassVar[str] = (
        "averages that leave out the border: different rounding; others: bit-identical to what the program specifies"
    )
    done: ClassVar[str] = "computed with the size that the call decides"
    advice: ClassVar[str] = "compute with the size that the call decides"

    def fits(self, op: ir.Operation) -> bool:
        if not takes_unknown_sizes(op):
            return False
        given, name = torch.TensorType.of(op.operands[0]), torch.front_end_name(op)
        made = [torch.TensorType.of(result) for result in op.results]
        if given is None or len(made) != 1 or made[0] is None or len(made[0].shape) > len(given.shape):
            return False
        if name in EXTREMES:
            return True
        if name == CHANNELS:
            # Of an even number of channels it is disputed which one is the middle.
            odd = number(op, "size", 1) % 2 == 1
            return (
                odd and len(given.shape) == 4 and given.shape[1] is not None and given.element in torch.FLOATS
            )
        if name == CROP:
            targets = integers_of(op.operands[1])
            return targets is not None and len(targets) == len(_axes(op, len(given.shape)))
        if _rounds_up(op):
            return False
        counted = name == _MAX_POOL and given.element == "si8"
        return integers(op, "kernel_shape") is not None and (given.element in torch.FLOATS or counted)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        if name in EXTREMES:
            return [_last(op)]
        if name == CHANNELS:
            return [_normalised(op)]
        return [_cropped(op) if name == CROP else _pooled(op)]


def _last(op: ir.Operation) -> ir.Value:
    """The first of equal elements of what is reversed, counted from the end."""
    value, made = op.operands[0], op.results[0].type
    given = torch.TensorType.of(value)
    assert given is not None  # `fits`
    axis = number(op, "axis", 0) % len(given.shape)
    turned = torch.apply("aten.flip", [value, torch.integers([axis])], given)
    kept = {"axis": op.attributes["torch.onnx.axis"]} if "torch.onnx.axis" in op.attributes else {}
    if "torch.onnx.keepdims" in op.attributes:
        kept["keepdims"] = op.attributes["torch.onnx.keepdims"]
    found = torch.apply_onnx(torch.front_end_name(op).removeprefix("onnx."), [turned], made, **kept)
    last = _less(torch.size(value, axis), torch.integer(1))
    return torch.apply("aten.rsub.Scalar", [found, last, torch.integer(1)], made)


def _normalised(op: ir.Operation) -> ir.Value:
    """x / (bias + alpha * m) ** beta, where m is the mean of the squares of neighbouring channels; what lies outside counts as 0."""
    value, count = op.operands[0], number(op, "size", 1)
    type_ = torch.TensorType.of(value)
    assert type_ is not None  # `fits`
    one, zero, no = torch.integer(1), torch.integer(0), torch.boolean(False)
    squares = torch.apply("aten.mul.Tensor", [value, value], type_)
    wide = torch.TensorType((type_.shape[0], 1, *type_.shape[1:]), type_.element)
    squares = torch.apply("aten.unsqueeze", [squares, one], wide)
    before = (count - 1) // 2
    borders = torch.integers([0, 0, 0, 0, before, count - 1 - before])
    longer = wide.with_size(2, (type_.shape[1] or 0) + count - 1)
    padded = torch.apply("aten.constant_pad_nd", [squares, borders, torch.real(0.0)], longer)
    windows = [torch.integers([count, 1, 1]), torch.integers([1, 1, 1]), torch.integers([0, 0, 0])]
    means = torch.apply("aten.avg_pool3d", [padded, *windows, no, torch.boolean(True), torch.none()], wide)
    means = torch.apply("aten.select.int", [means, one, zero], type_)
    alpha, beta, bias = (
        torch.real(real(op, name, default))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    scaled = torch.apply("aten.mul.Scalar", [means, alpha], type_)
    moved = torch.apply("aten.add.Scalar", [scaled, bias, one], type_)
    power = torch.apply("aten.pow.Tensor_Scalar", [moved, beta], type_)
    return torch.cast(torch.apply("aten.div.Tensor", [value, power], type_), op.results[0].type)


def _axes(op: ir.Operation, rank: int) -> list[int]:
    return [axis % rank for axis in integers(op, "axes") or range(rank)]


def _cropped(op: ir.Operation) -> ir.Value:
    """The middle of the image with zeros around it; of one of the two there is nothing in each dimension."""
    value = op.operands[0]
    type_ = torch.TensorType.of(value)
    assert type_ is not None  # `fits`
    rank, two = len(type_.shape), torch.integer(2)
    borders = [torch.integer(0)] * (2 * rank)
    for axis, target in zip(_axes(op, rank), integers_of(op.operands[1]) or (), strict=True):
        size, wanted = torch.size(value, axis), torch.integer(target)
        begin = _number("aten.floordiv.int", _positive(_less(size, wanted)), two)
        end = _number("aten.add.int", begin, wanted)
        type_ = type_.with_size(axis, None)
        bounds = [torch.integer(axis), begin, end, torch.integer(1)]
        value = torch.apply("aten.slice.Tensor", [value, *bounds], type_)
        missing = _positive(_less(wanted, size))
        before = _number("aten.floordiv.int", missing, two)
        borders[2 * (rank - 1 - axis)] = before
        borders[2 * (rank - 1 - axis) + 1] = _less(missing, before)
    padded = torch.apply("aten.constant_pad_nd", [value, torch.listed(borders), _zero(type_)], type_)
    return torch.cast(padded, op.results[0].type)


def _zero(type_: torch.TensorType) -> ir.Value:
    return torch.real(0.0) if type_.element[0] in "fb" else torch.integer(0)


def _pooled(op: ir.Operation) -> ir.Value:
    value, name = op.operands[0], torch.front_end_name(op)
    type_ = torch.TensorType.of(value)
    assert type_ is not None  # `fits`
    borders = _borders(op, value)
    if name == _MAX_POOL:
        least = torch.integer(-128) if type_.element == "si8" else torch.real(float("-inf"))
        return _pool(op, _padded(value, borders, least), op.results[0].type)
    pooled = _pool(op, _padded(value, borders, torch.real(0.0)), op.results[0].type)
    if name != _AVERAGE_POOL or number(op, "count_include_pad", 0):
        return pooled
    made = torch.TensorType.of(op.results[0])
    assert made is not None
    sizes = [torch.integer(1)] * _SPATIAL
    sizes += [torch.size(value, dim) for dim in range(_SPATIAL, len(type_.shape))]
    none = torch.none()
    one = torch.TensorType((*(1,) * _SPATIAL, *type_.shape[_SPATIAL:]), type_.element)
    dtype = torch.integer(torch.NUMBERS[type_.element])
    ones = torch.apply("aten.ones", [torch.listed(sizes), dtype, none, none, none], one)
    counted = torch.TensorType((*(1,) * _SPATIAL, *made.shape[_SPATIAL:]), type_.element)
    shares = _pool(op, _padded(ones, borders, torch.real(0.0)), counted.ir_type())
    return torch.apply("aten.div.Tensor", [pooled, shares], made)


def _pool(op: ir.Operation, value: ir.Value, made: ir.Type) -> ir.Value:
    kept = {
        name: op.attributes[f"torch.onnx.{name}"]
        for name in ("kernel_shape", "strides", "dilations", "p")
        if f"torch.onnx.{name}" in op.attributes
    }
    if torch.front_end_name(op) == _AVERAGE_POOL:
        # Nothing is padded any more. IREE counts the elements of each window otherwise, with divisions that Vulkan has not.
        kept["count_include_pad"] = ir.Attribute.parse("1 : si64")
    return torch.apply_onnx(torch.front_end_name(op).removeprefix("onnx."), [value], made, **kept)


def _padded(value: ir.Value, borders: Sequence[ir.Value], filler: ir.Value) -> ir.Value:
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    for dim in range(_SPATIAL, len(type_.shape)):
        type_ = type_.with_size(dim, None)
    return torch.apply("aten.constant_pad_nd", [value, torch.listed(borders), filler], type_)


def _rounds_up(op: ir.Operation) -> bool:
    """Whether the last window of ``op`` may reach behind its border."""
    return bool(number(op, "ceil_mode", 0)) and text_of(op, "torch.onnx.auto_pad") not in SAME


def _borders(op: ir.Operation, value: ir.Value) -> list[ir.Value]:
    """What is added to each dimension before and after, the last dimension first."""
    elements = integers(op, "kernel_shape") or []
    if text_of(op, "torch.onnx.auto_pad") not in SAME:
        widths, rank = integers(op, "pads") or [], len(elements)
        pairs = [(widths[dim], widths[dim + rank]) for dim in reversed(range(rank))]
        return [torch.integer(width) for pair in pairs for width in pair]
    steps, dilations = (integers(op, name) or [1] * len(elements) for name in ("strides", "dilations"))
    lower = text_of(op, "torch.onnx.auto_pad") == "SAME_LOWER"
    borders: list[ir.Value] = []
    for dim in reversed(range(len(elements))):
        extent = dilations[dim] * (elements[dim] - 1) + 1
        if steps[dim] == 1:  # as many windows as elements, whatever the size
            first = extent // 2 if lower else (extent - 1) // 2
            borders += [torch.integer(first), torch.integer(extent - 1 - first)]
            continue
        step = torch.integer(steps[dim])
        size = torch.size(value, dim + _SPATIAL)
        rounded = _number("aten.add.int", size, torch.integer(steps[dim] - 1))
        windows = _number("aten.floordiv.int", rounded, step)
        moved = _number("aten.mul.int", _less(windows, torch.integer(1)), step)
        total = _positive(_less(_number("aten.add.int", moved, torch.integer(extent)), size))
        more = _number("aten.add.int", total, torch.integer(1)) if lower else total
        before = _number("aten.floordiv.int", more, torch.integer(2))
        borders += [before, _less(total, before)]
    return borders


def _less(value: ir.Value, other: ir.Value) -> ir.Value:
    return _number("aten.sub.int", value, other)


def _positive(value: ir.Value) -> ir.Value:
    return _number("prim.max.int", value, torch.integer(0))


def _number(name: str, *operands: ir.Value) -> ir.Value:
    return torch.apply(name, operands, ir.Type.parse("!torch.int"))
