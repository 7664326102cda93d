"""Integrals by the trapezoidal rule as slices, products and sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import INTEGERS, axis_of, broadcast_shape, inserted, summed, type_of, without

_WHOLE = ("aten.trapezoid", "aten.trapz")
_RUNNING = "aten.cumulative_trapezoid"


@register_pass
@dataclass(frozen=True)
class SumTrapezoids(FrontEndRemedy):
    """Writes `aten.trapezoid`, `aten.trapz` and `aten.cumulative_trapezoid` as torch defines them.

    The distances are a number or the differences of a tensor, of one dimension or of those of the values. Integers become f32, and
    elements of 16 bits are added as f32. Sizes may be dynamic. The torch dialect of IREE 3.13 has none of these ops. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-sum-trapezoids"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.trapezoid` and `aten.cumulative_trapezoid` with slices and sums (in the input)"
    )
    repairs: ClassVar[str] = "`aten.trapezoid` and `aten.cumulative_trapezoid`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as slices and sums"
    advice: ClassVar[str] = "rewrite it as slices and sums"

    def fits(self, op: ir.Operation) -> bool:
        name, _dot, spacing = torch.front_end_name(op).rpartition(".")
        if name not in (*_WHOLE, _RUNNING) or len(op.operands) != 3 or len(op.results) != 1:
            return False
        values, result = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        if values is None or result is None or values.element not in (*FLOATS, *INTEGERS):
            return False
        rank = len(values.shape)
        axis = axis_of(op.operands[2], rank)
        if axis is None or result.element != _result(values.element):
            return False
        size = values.shape[axis]
        if size is not None and size < 2:
            return False
        if spacing == "dx":
            return torch.number_of(op.operands[1]) is not None
        places = TensorType.of(op.operands[1])
        if spacing != "x" or places is None or not 1 <= len(places.shape) <= rank:
            return False
        if _result(places.element) != result.element or places.element not in (*FLOATS, *INTEGERS):
            return False
        along = 0 if len(places.shape) == 1 else axis - rank + len(places.shape)
        return along >= 0 and places.shape[along] == size

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op).rpartition(".")[0]
        of_values = type_of(op.operands[0])
        values, axis = torch.converted(op.operands[0], "f32"), axis_of(op.operands[2], len(of_values.shape))
        assert axis is not None
        step = torch.number_of(op.operands[1])
        if step is None:
            areas = _times_distances(_pairs(values, axis), op.operands[1], axis)
            total = _running(areas, axis) if name == _RUNNING else summed(areas, axis)
            total = apply("aten.mul.Scalar", [total, torch.real(0.5)], type_of(total))
        elif name == _RUNNING:
            pairs = _pairs(values, axis)
            total = _running(apply("aten.mul.Scalar", [pairs, torch.real(step / 2)], type_of(pairs)), axis)
        else:
            total = _evenly(values, axis, step)
        return [torch.cast(torch.converted(total, _result(of_values.element)), op.results[0].type)]


def _result(element: str) -> str:
    return element if element in FLOATS else "f32"


def _pairs(values: ir.Value, axis: int) -> ir.Value:
    """Sums of neighbours."""
    later, earlier = torch.sliced(values, axis, 1, None), torch.sliced(values, axis, 0, -1)
    return apply("aten.add.Tensor", [later, earlier, torch.integer(1)], type_of(later))


def _times_distances(pairs: ir.Value, places: ir.Value, axis: int) -> ir.Value:
    """``pairs`` by the differences of ``places``, whose dimensions are the last ones or, if there is one, ``axis``."""
    places, rank = torch.converted(places, "f32"), len(type_of(pairs).shape)
    if len(type_of(places).shape) == 1:
        for dim in range(1, rank - axis):
            places = inserted(places, dim)
    for _missing in range(rank - len(type_of(places).shape)):
        places = inserted(places, 0)
    later, earlier = torch.sliced(places, axis, 1, None), torch.sliced(places, axis, 0, -1)
    distances = apply("aten.sub.Tensor", [later, earlier, torch.integer(1)], type_of(later))
    shape = broadcast_shape([type_of(pairs).shape, type_of(distances).shape])
    return apply("aten.mul.Tensor", [pairs, distances], TensorType(shape, "f32"))


def _running(values: ir.Value, axis: int) -> ir.Value:
    return apply("aten.cumsum", [values, torch.integer(axis), torch.none()], type_of(values))


def _evenly(values: ir.Value, axis: int, step: float) -> ir.Value:
    """All values, without half of the first and the last, as torch adds them: an infinite one at an end makes NaN."""
    made = without(type_of(values), axis)
    first, last = (
        apply("aten.select.int", [values, torch.integer(axis), torch.integer(place)], made)
        for place in (0, -1)
    )
    ends = apply("aten.add.Tensor", [first, last, torch.integer(1)], made)
    half = apply("aten.mul.Scalar", [ends, torch.real(0.5)], made)
    rest = apply("aten.sub.Tensor", [summed(values, axis), half, torch.integer(1)], made)
    return apply("aten.mul.Scalar", [rest, torch.real(float(step))], made)
