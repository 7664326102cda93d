"""Medians, k-th values and modes as selections from sorted elements and counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import (
    INTEGERS,
    as_boolean,
    axis_of,
    inserted,
    positions,
    size_of,
    summed,
    type_of,
    without,
)

_MEDIAN, _MEDIAN_OF_ALL = "aten.median.dim", "aten.median"
_KTH, _MODE = "aten.kthvalue", "aten.mode"
_BEYOND = 2**63 - 1
"""Behind every position."""
_OPERANDS = {_MEDIAN: 3, _MEDIAN_OF_ALL: 1, _KTH: 4, _MODE: 3}


@register_pass
@dataclass(frozen=True)
class SelectOrdered(FrontEndRemedy):
    """Writes `aten.median` and `aten.kthvalue` as an element of the sorted ones, and `aten.mode` as the smallest of those that occur most often.

    A median is the lower one of two. NaN is larger than all for `kthvalue`, and a median of elements with NaN is NaN, as in PyTorch:
    IREE's sort does not order NaN, so it is infinity there. The index is that of the first equal element (`aten.mode`: of the last),
    where PyTorch leaves it open. Sizes may be dynamic. IREE 3.13 lowers none of these ops. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-select-ordered"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.median` and `aten.kthvalue` with a sort and a selection, and `aten.mode` with counts (in the input)"
    )
    repairs: ClassVar[str] = "`aten.median`, `aten.kthvalue` and `aten.mode`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical; of equal elements PyTorch leaves open which index is given"
    done: ClassVar[str] = "rewrote it as a selection from sorted or counted elements"
    advice: ClassVar[str] = "rewrite it as a selection from sorted or counted elements"

    def fits(self, op: ir.Operation) -> bool:
        name, given = torch.front_end_name(op), list(op.operands)
        if len(given) != _OPERANDS.get(name):
            return False
        type_ = TensorType.of(given[0])
        if type_ is None or not type_.shape or type_.element not in (*FLOATS, *INTEGERS):
            return False
        if 0 in type_.shape or any(TensorType.of(result) is None for result in op.results):
            return False
        if name == _MEDIAN_OF_ALL:
            return len(op.results) == 1
        *numbers, keep = given[1:]
        axis = axis_of(numbers[-1], len(type_.shape))
        if axis is None or torch.boolean_of(keep) is None or len(op.results) != 2:
            return False
        if name != _KTH:
            return True
        place, size = torch.integer_of(numbers[0]), type_.shape[axis]
        return place is not None and 1 <= place and (size is None or place <= size)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, value = torch.front_end_name(op), op.operands[0]
        rank = len(type_of(value).shape)
        if name == _MEDIAN_OF_ALL:
            flat = torch.merged(value, 0, rank - 1)
            return [torch.cast(_ordered(flat, 0, None), op.results[0].type)]
        *numbers, keep = list(op.operands)[1:]
        axis = axis_of(numbers[-1], rank)
        assert axis is not None
        if name == _MODE:
            found = _most_frequent(value, axis)
        else:
            found = _ordered(value, axis, torch.integer_of(numbers[0]) if name == _KTH else None)
        index = _place(value, found, axis, last=name == _MODE)
        results = [inserted(one, axis) if torch.boolean_of(keep) else one for one in (found, index)]
        return [torch.cast(one, result.type) for one, result in zip(results, op.results, strict=True)]


def _ordered(value: ir.Value, axis: int, place: int | None) -> ir.Value:
    """The element that is number ``place``, from 1 on, along ``axis``; the median for None."""
    type_ = type_of(value)
    if type_.element in FLOATS:
        unordered = apply("aten.ne.Tensor", [value, value], as_boolean(type_))
        value = apply("aten.where.ScalarSelf", [unordered, torch.real(inf), value], type_)
    operands = [value, torch.integer(axis), torch.boolean(False)]
    types = [type_.ir_type(), TensorType(type_.shape, "si64").ir_type()]
    ordered = ir.Operation.create("torch.aten.sort", results=types, operands=operands).results[0]
    made = without(type_, axis)
    if place is None:
        found = _middle(ordered, axis)
    else:
        found = apply("aten.select.int", [ordered, torch.integer(axis), torch.integer(place - 1)], made)
    if type_.element not in FLOATS:
        return found
    # Infinities that stand for NaN are behind all others.
    bound = torch.integer(0) if place is None else _less(size_of(value, axis), place)
    hidden = apply("aten.gt.Scalar", [summed(unordered, axis), bound], as_boolean(made))
    return apply("aten.where.ScalarSelf", [hidden, torch.real(nan), found], made)


def _middle(ordered: ir.Value, axis: int) -> ir.Value:
    """The lower median of what is sorted along ``axis``."""
    type_, dim = type_of(ordered), torch.integer(axis)
    size, made = type_.shape[axis], without(type_, axis)
    if size is not None:
        return apply("aten.select.int", [ordered, dim, torch.integer((size - 1) // 2)], made)
    # A shift of a tensor: SPIR-V has no division that rounds down, in which a quotient of sizes ends.
    number = apply("prim.NumToTensor.Scalar", [_less(torch.size(ordered, axis), 1)], TensorType((), "si64"))
    number = apply("aten.__rshift__.Scalar", [number, torch.integer(1)], TensorType((), "si64"))
    taken = apply("aten.index_select", [ordered, dim, inserted(number, 0)], type_.with_size(axis, 1))
    return apply("aten.squeeze.dim", [taken, dim], made)


def _less(size: ir.Value, number: int) -> ir.Value:
    known = torch.integer_of(size)
    if known is not None:
        return torch.integer(known - number)
    return apply("aten.sub.int", [size, torch.integer(number)], ir.Type.parse("!torch.int"))


def _place(value: ir.Value, found: ir.Value, axis: int, *, last: bool) -> ir.Value:
    """Where along ``axis`` the first or the last of the elements is that are as ``found``."""
    type_, sought = type_of(value), inserted(found, axis)
    same = apply("aten.eq.Tensor", [value, sought], as_boolean(type_))
    if type_.element in FLOATS:
        pair = (apply("aten.ne.Tensor", [one, one], as_boolean(type_of(one))) for one in (value, sought))
        unordered = apply("aten.logical_and", list(pair), as_boolean(type_))
        same = apply("aten.logical_or", [same, unordered], as_boolean(type_))
    places = positions(same, axis, -1 if last else _BEYOND)
    over = [torch.integers([axis]), torch.boolean(False)]
    return apply("aten.amax" if last else "aten.amin", [places, *over], without(type_of(places), axis))


def _most_frequent(value: ir.Value, axis: int) -> ir.Value:
    """The smallest of the elements that occur most often along ``axis``."""
    type_ = type_of(value)
    left, right = inserted(value, axis), inserted(value, axis + 1)
    shape = (*type_.shape[: axis + 1], *type_.shape[axis:])
    same = apply("aten.eq.Tensor", [left, right], TensorType(shape, "i1"))
    count = summed(same, axis)
    dims, keep = torch.integers([axis]), torch.boolean(True)
    most = apply("aten.amax", [count, dims, keep], type_of(count).with_size(axis, 1))
    often = apply("aten.eq.Tensor", [count, most], as_boolean(type_))
    if type_.element in FLOATS:
        beyond = torch.real(inf)
    else:
        beyond = torch.integer(2 ** (INTEGERS[type_.element] - 1) - 1)
    left = apply("aten.where.ScalarOther", [often, value, beyond], type_)
    return apply("aten.amin", [left, dims, torch.boolean(False)], without(type_, axis))
