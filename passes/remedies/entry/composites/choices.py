"""Ops that choose between two tensors or numbers, look elements up, or repeat the nearest one."""

from __future__ import annotations

from math import floor

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import broadcast_shape, inserted, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, compared, is_nan, rank_of

_SPATIAL = {
    "aten.upsample_nearest3d.vec": 3, "aten._upsample_nearest_exact1d.vec": 1, "aten._upsample_nearest_exact2d.vec": 2,
    "aten._upsample_nearest_exact3d.vec": 3, "aten.upsample_nearest1d.vec": 1,
}  # fmt: skip
"""Op -> how many dimensions it repeats elements in."""


def _both(op: ir.Operation) -> tuple[Tensor, Tensor]:
    """With the shape of the result: IREE 3.13 takes that of the first for it."""
    shape = type_of(op.results[0]).shape
    left, right = (Tensor(one) for one in list(op.operands)[:2])
    return (left, right) if left.type_.shape == right.type_.shape == shape else (left + right.zeros(), right)


def _either(condition: Tensor, other: Tensor) -> Tensor:
    shape = broadcast_shape([condition.type_.shape, other.type_.shape])
    return Tensor(apply("aten.logical_or", [condition.value, other.value], TensorType(shape, "i1")))


def _larger(op: ir.Operation) -> list[Tensor]:
    """The larger one, and a NaN of two only."""
    left, right = _both(op)
    return [_either(compared(left, "ge", right), is_nan(right)).chosen(left, right)]


def _smaller(op: ir.Operation) -> list[Tensor]:
    left, right = _both(op)
    return [_either(compared(left, "le", right), is_nan(right)).chosen(left, right)]


def _at_most(op: ir.Operation) -> list[Tensor]:
    """The smaller one, or a NaN."""
    left, right = _both(op)
    return [_either(compared(left, "le", right), is_nan(left)).chosen(left, right)]


def _are_alike(op: ir.Operation) -> bool:
    types = [TensorType.of(one) for one in op.operands]
    return None not in types and len({one.element for one in types if one}) == 1


def _between(op: ir.Operation) -> list[Tensor]:
    start, end = map(Tensor.wide, list(op.operands)[:2])
    if TensorType.of(op.operands[2]) is not None:
        return [start + (end - start) * Tensor.wide(op.operands[2])]
    return [start + (end - start) * (torch.number_of(op.operands[2]) or 0.0)]


def _has_weight(op: ir.Operation) -> bool:
    types = [TensorType.of(one) for one in list(op.operands)[:2]]
    weight = TensorType.of(op.operands[2]) is not None or torch.number_of(op.operands[2]) is not None
    return None not in types and weight


def _occurs(op: ir.Operation) -> list[Tensor]:
    """Whether each of the first is one of the second; or is not."""
    sought, among = list(op.operands)[:2]
    rank = rank_of(among)
    row = among if rank == 1 else apply("aten.reshape", [among, torch.integers([-1])], TensorType((None,), type_of(among).element))  # fmt: skip
    same = compared(Tensor(inserted(sought, rank_of(sought))), "eq", Tensor(row))
    made = TensorType(type_of(sought).shape, "i1")
    last = [torch.integer(rank_of(sought)), torch.boolean(False)]
    found = apply("aten.any.dim", [same.value, *last], made)
    return [Tensor(apply("aten.logical_not", [found], made) if torch.boolean_of(op.operands[3]) else found)]


def _is_sought(op: ir.Operation) -> bool:
    first, second = (TensorType.of(one) for one in list(op.operands)[:2])
    if first is None or second is None or first.element != second.element:
        return False
    return torch.boolean_of(op.operands[3]) is not None and first.element in (*torch.FLOATS, "si64", "si32")


def _cross(op: ir.Operation) -> list[Tensor]:
    """Along the first dimension of size 3, if none is named."""
    made = type_of(op.results[0])
    dim = op.operands[2]
    if torch.is_none(dim):
        dim = torch.integer(type_of(op.operands[0]).shape.index(3))
    return [Tensor(apply("aten.linalg_cross", [*list(op.operands)[:2], dim], made))]


def _has_three(op: ir.Operation) -> bool:
    known = torch.integer_of(op.operands[2]) is not None
    return _are_alike_first(op) and (known or 3 in type_of(op.operands[0]).shape)


def _are_alike_first(op: ir.Operation) -> bool:
    first, second = (TensorType.of(one) for one in list(op.operands)[:2])
    return first is not None and first == second


def _nearest(op: ir.Operation) -> list[Tensor]:
    """Along each dimension the elements of a table of places."""
    name = torch.front_end_name(op)
    spatial, exact = _SPATIAL[name], "exact" in name
    value, made = op.operands[0], type_of(op.results[0])
    scales = None if torch.is_none(op.operands[2]) else torch.numbers_of(op.operands[2])
    for number in range(spatial):
        dim = len(made.shape) - spatial + number
        size, wanted = type_of(value).shape[dim] or 1, made.shape[dim] or 1
        step = np.float32(1.0 / scales[number] if scales else size / wanted)
        places = [min(floor((one + (0.5 if exact else 0.0)) * step), size - 1) for one in range(wanted)]
        operands = [value, torch.integer(dim), torch.table(np.array(places, np.int64))]
        value = apply("aten.index_select", operands, type_of(value).with_size(dim, wanted))
    return [Tensor(value)]


def _is_measured(op: ir.Operation) -> bool:
    value, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
    spatial = _SPATIAL[torch.front_end_name(op)]
    if value is None or made is None or len(value.shape) != spatial + 2 or len(made.shape) != spatial + 2:
        return False
    known = torch.is_none(op.operands[2]) or torch.numbers_of(op.operands[2]) is not None
    return known and None not in (*value.shape[2:], *made.shape[2:])


CHOICES = {
    "aten.fmax": Composite(2, _larger, _are_alike),
    "aten.fmin": Composite(2, _smaller, _are_alike),
    "aten.clamp_max.Tensor": Composite(2, _at_most, _are_alike),
    "aten.lerp.Scalar": Composite(3, _between, _has_weight),
    "aten.lerp.Tensor": Composite(3, _between, _has_weight),
    "aten.isin.Tensor_Tensor": Composite(4, _occurs, _is_sought, floats=False),
    "aten.cross": Composite(3, _cross, _has_three, floats=False),
    **{name: Composite(3, _nearest, _is_measured) for name in _SPATIAL},
}
"""Op -> what takes its place."""
