"""Values that several remedies of this folder build: other element types, merged dimensions, indices that count from the front."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from .. import torch_ops as torch
from ..torch_ops import TensorType, apply

INDICES = ("si64", "si32")
INTEGERS = {"si64": 64, "si32": 32}
"""Element type -> its bits; the integers that were tried."""


def type_of(value: ir.Value) -> TensorType:
    """The type of a value that is known to be a tensor."""
    type_ = TensorType.of(value)
    assert type_ is not None
    return type_


def axis_of(value: ir.Value, rank: int) -> int | None:
    """The dimension that a constant is of a tensor of rank ``rank``; None where it is none of its dimensions."""
    axis = torch.integer_of(value)
    return axis % rank if axis is not None and -rank <= axis < rank else None


def as_boolean(type_: TensorType) -> TensorType:
    return TensorType(type_.shape, "i1")


def without(type_: TensorType, axis: int) -> TensorType:
    return TensorType((*type_.shape[:axis], *type_.shape[axis + 1 :]), type_.element)


def size_of(value: ir.Value, dim: int) -> ir.Value:
    """The size of a dimension, a constant where the type has it."""
    known = type_of(value).shape[dim]
    return torch.size(value, dim) if known is None else torch.integer(known)


def inserted(value: ir.Value, axis: int) -> ir.Value:
    """``value`` with a dimension of size 1 at ``axis``."""
    type_ = type_of(value)
    made = TensorType((*type_.shape[:axis], 1, *type_.shape[axis:]), type_.element)
    return apply("aten.unsqueeze", [value, torch.integer(axis)], made)


def permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    type_ = type_of(value)
    if list(order) == sorted(order):
        return value
    made = TensorType(tuple(type_.shape[dim] for dim in order), type_.element)
    return apply("aten.permute", [value, torch.integers(order)], made)


def from_front(index: ir.Value, size: ir.Value) -> ir.Value:
    """``index`` (si64) into ``size`` elements, where a negative one counts from the end."""
    type_ = type_of(index)
    negative = apply("aten.lt.Scalar", [index, torch.integer(0)], as_boolean(type_))
    moved = apply("aten.add.Scalar", [index, size, torch.integer(1)], type_)
    return apply("aten.where.self", [negative, moved, index], type_)


def python_remainder(value: ir.Value, divisor: ir.Value) -> ir.Value:
    """Of two of torch's integers, with the sign of the divisor: IREE rounds its own quotient down, and its own remainder to the other side."""
    number = ir.Type.parse("!torch.int")
    quotient = apply("aten.floordiv.int", [value, divisor], number)
    whole = apply("aten.mul.int", [quotient, divisor], number)
    return apply("aten.sub.int", [value, whole], number)


def broadcast_shape(shapes: Sequence[Sequence[int | None]]) -> tuple[int | None, ...]:
    """The shape that elementwise ops on ``shapes`` have; an unknown size is taken to be that of the others."""
    rank = max(len(shape) for shape in shapes)
    found: list[int | None] = [1] * rank
    for shape in shapes:
        for dim, one in enumerate(shape, rank - len(shape)):
            if found[dim] == 1 or (found[dim] is None and one not in (None, 1)):
                found[dim] = one
    return tuple(found)


def summed(value: ir.Value, axis: int) -> ir.Value:
    """Sums over ``axis``; of booleans, how many are true."""
    type_ = type_of(value)
    made = without(type_, axis)
    if type_.element == "i1":
        made = TensorType(made.shape, "si64")
    return apply(
        "aten.sum.dim_IntList", [value, torch.integers([axis]), torch.boolean(False), torch.none()], made
    )


def positions(chosen: ir.Value, axis: int, otherwise: int) -> ir.Value:
    """Along ``axis``: the number, from 0 on, of each element that is true in ``chosen``; ``otherwise`` for the others."""
    type_ = type_of(chosen)
    end = [size_of(chosen, axis), *(torch.none() for _option in range(3)), torch.boolean(False)]
    count = apply("aten.arange", end, TensorType((type_.shape[axis],), "si64"))
    for dim in range(1, len(type_.shape) - axis):
        count = inserted(count, dim)
    made = TensorType(type_.shape, "si64")
    return apply("aten.where.ScalarOther", [chosen, count, torch.integer(otherwise)], made)
