"""Reductions of ONNX in the forms that IREE lacks: those of old opsets, over no axes at all, means of integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.legacy_axes import opset_of
from fissile.passes.analysis.imports.onnx_values import integers_of, sizes_of
from fissile.passes.analysis.imports.unknown_sizes import integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import type_of, without
from ..torch_ops import TensorType, apply

_INTEGERS = ("si64", "si32", "si8", "ui8")
_EXTREMES = {"onnx.ReduceMax": "aten.amax", "onnx.ReduceMin": "aten.amin"}
_PRODUCT, _MEAN = "onnx.ReduceProd", "onnx.ReduceMean"
_LOWERED = 13
"""The opset from which on IREE lowers the maximum, the minimum and the product."""


@register_pass
@dataclass(frozen=True)
class ReduceDims(FrontEndRemedy):
    """Writes `onnx.Reduce*` ops with reductions of torch.

    IREE 3.13 has no lowering for ReduceMax, ReduceMin and ReduceProd of opset 12 or older and for means of integers. It crashes on a
    ReduceL2, ReduceLogSum or ReduceLogSumExp with an empty list of axes that stands for no axis at all (`noop_with_empty_axes = 1`). Run it
    on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-reduce-dims"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "writes `onnx.ReduceMax`, `ReduceMin` and `ReduceProd` of opset 12 or older, means of integers, and reductions without axes with ops "
        "of torch (in the input)"
    )
    repairs: ClassVar[str] = (
        "reductions of ONNX of old opsets, means of integers and reductions over no axes, which IREE rejects or crashes on (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "wrote the reduction with ops of torch"
    advice: ClassVar[str] = "write the reduction with ops of torch"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.results) != 1 or len(op.operands) not in (1, 2):
            return False
        given = TensorType.of(op.operands[0])
        if given is None:
            return False
        if _keeps_all(op):
            return given.element in (_INTEGERS if name == _MEAN else torch.FLOATS) and name in _ALONE
        axes = _axes(op, len(given.shape))
        if not axes:
            return False
        if name == _MEAN:
            return given.element in _INTEGERS and all(given.shape[axis] for axis in axes)
        if name not in _EXTREMES and name != _PRODUCT:
            return False
        opset = opset_of(op)
        return opset is not None and opset < _LOWERED and given.element in (*torch.FLOATS, *_INTEGERS)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, value = torch.front_end_name(op), op.operands[0]
        if _keeps_all(op):
            return [torch.cast(_ALONE[name](value), op.results[0].type)]
        given = type_of(value)
        axes, keep = _axes(op, len(given.shape)), bool(number(op, "keepdims", 1))
        if name in _EXTREMES:
            made = _reduced(given, axes, keep)
            made = apply(_EXTREMES[name], [value, torch.integers(axes), torch.boolean(keep)], made)
        elif name == _PRODUCT:
            made = _product(value, axes, keep)
        else:
            made = _mean(value, axes, keep)
        return [torch.cast(made, op.results[0].type)]


def _axes(op: ir.Operation, rank: int) -> list[int]:
    """The axes that are reduced, all where none is named; empty where they are not known."""
    listed = integers(op, "axes")
    if listed is None and len(op.operands) == 2 and not torch.is_none(op.operands[1]):
        listed = integers_of(op.operands[1])
        if listed is None and sizes_of(op.operands[1]) != [0]:
            return []
    axes = sorted({axis + rank if axis < 0 else axis for axis in listed or range(rank)})
    return axes if axes and 0 <= axes[0] and axes[-1] < rank else []


def _keeps_all(op: ir.Operation) -> bool:
    """Whether there are no axes, and that stands for none of them."""
    if not number(op, "noop_with_empty_axes", 0) or integers(op, "axes"):
        return False
    return len(op.operands) == 1 or torch.is_none(op.operands[1]) or sizes_of(op.operands[1]) == [0]


def _reduced(given: TensorType, axes: list[int], keep: bool) -> TensorType:
    shape = [1 if dim in axes else size for dim, size in enumerate(given.shape) if keep or dim not in axes]
    return TensorType(tuple(shape), given.element)


def _product(value: ir.Value, axes: list[int], keep: bool) -> ir.Value:
    """One axis after the other, from the last on, so that the numbers of the others stay."""
    for axis in reversed(axes):
        given = type_of(value)
        made = given.with_size(axis, 1) if keep else without(given, axis)
        value = apply(
            "aten.prod.dim_int", [value, torch.integer(axis), torch.boolean(keep), torch.none()], made
        )
    return value


def _mean(value: ir.Value, axes: list[int], keep: bool) -> ir.Value:
    """The sum in 64 bits, divided by the number of elements and rounded towards zero."""
    given = type_of(value)
    made = TensorType(_reduced(given, axes, keep).shape, "si64")
    over = [torch.integers(axes), torch.boolean(keep), torch.none()]
    total = apply("aten.sum.dim_IntList", [torch.converted(value, "si64"), *over], made)
    count = torch.literal(str(prod(given.shape[axis] or 1 for axis in axes)), "si64")
    mean = apply("aten.div.Tensor_mode", [total, count, torch.string("trunc")], made)
    return torch.converted(mean, given.element)


def _same(value: ir.Value) -> ir.Value:
    return value


def _unary(name: str) -> Callable[[ir.Value], ir.Value]:
    return lambda value: apply(name, [value], type_of(value))


_ALONE: dict[str, Callable[[ir.Value], ir.Value]] = {
    _MEAN: _same,
    "onnx.ReduceLogSumExp": _same,
    "onnx.ReduceL2": _unary("aten.abs"),
    "onnx.ReduceLogSum": _unary("aten.log"),
}
"""What a reduction makes of one element; IREE lowers the others, and the mean of floats."""
