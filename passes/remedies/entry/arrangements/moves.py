"""Ops on one tensor: its dimensions in another order or number, its elements rolled, or on a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod

from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import permuted, size_of, type_of
from ..torch_ops import TensorType, apply
from .plans import Plan, at_least, dims_of, flat, known, operand, rank_of, reshaped, turned

_SUMMED = (*torch.FLOATS, "f64", "si64", "si32")


def itself(op: ir.Operation) -> Plan | None:
    x = operand(op, 1)
    return None if x is None else lambda: x


def itself_if_real(op: ir.Operation) -> Plan | None:
    return None if _is_complex(op) else itself(op)


def transposed(op: ir.Operation) -> Plan | None:
    """The last two dimensions exchanged."""
    x = operand(op, 1)
    if x is None or (rank := rank_of(x)) < 2:
        return None
    return lambda: permuted(x, [*range(rank - 2), rank - 1, rank - 2])


def adjoint(op: ir.Operation) -> Plan | None:
    """The same of real elements."""
    return None if _is_complex(op) else transposed(op)


def _is_complex(op: ir.Operation) -> bool:
    type_ = TensorType.of(op.operands[0])
    return type_ is not None and type_.element.startswith("complex")


def flattened(op: ir.Operation) -> Plan | None:
    x = operand(op, 1)
    return None if x is None else lambda: flat(x)


def viewed(op: ir.Operation) -> Plan | None:
    """With the sizes of another tensor."""
    x = operand(op, 2)
    like = None if x is None else TensorType.of(op.operands[1])
    if x is None or like is None:
        return None
    made, other = TensorType(like.shape, type_of(x).element), op.operands[1]

    def build() -> ir.Value:
        sizes = torch.listed([size_of(other, dim) for dim in range(len(like.shape))])
        return apply("aten.reshape", [x, sizes], made)

    return build


def dims_moved(op: ir.Operation) -> Plan | None:
    """`aten.movedim` of several dimensions at once; the others stay in order."""
    x = operand(op, 3)
    if x is None:
        return None
    rank = rank_of(x)
    here, there = (dims_of(op.operands[at], rank) for at in (1, 2))
    if here is None or there is None or len(here) != len(there):
        return None
    left = iter(dim for dim in range(rank) if dim not in here)
    moved = dict(zip(there, here, strict=True))
    return lambda: permuted(x, [moved[dim] if dim in moved else next(left) for dim in range(rank)])


def of_rank(rank: int) -> Callable[[ir.Operation], Plan | None]:
    """The plan of `aten.atleast_1d`, `aten.atleast_2d` or `aten.atleast_3d`."""

    def planned(op: ir.Operation) -> Plan | None:
        x = operand(op, 1)
        return None if x is None else lambda: at_least(x, rank)

    return planned


def summed_to(op: ir.Operation) -> Plan | None:
    """`aten.sum_to_size`: sums over what a broadcast from those sizes would have repeated."""
    x, made = operand(op, 2), TensorType.of(op.results[0])
    sizes = torch.integers_of(op.operands[1]) if len(op.operands) == 2 else None
    if x is None or made is None or sizes is None or len(sizes) > rank_of(x):
        return None
    type_ = type_of(x)
    front = len(type_.shape) - len(sizes)
    behind = [dim for dim, one in enumerate(sizes, front) if one == 1 and type_.shape[dim] != 1]
    if not front and not behind:
        return (lambda: x) if made.element == type_.element else None
    wide = type_.element if type_.element in (*torch.FLOATS, "f64") else "si64"
    if made.element != wide or type_.element not in _SUMMED:
        return None

    def build() -> ir.Value:
        value = x
        for dims, keep in ((behind, True), (list(range(front)), False)):
            if dims:
                shape = type_of(value).shape
                left = tuple(
                    1 if at in dims else one for at, one in enumerate(shape) if keep or at not in dims
                )
                options = [torch.integers(dims), torch.boolean(keep), torch.none()]
                value = apply("aten.sum.dim_IntList", [value, *options], TensorType(left, made.element))
        return value

    return build


def halves_exchanged(inverse: bool) -> Callable[[ir.Operation], Plan | None]:
    """The plan of `aten.fft_fftshift`, or of its inverse, which differs for odd sizes."""

    def planned(op: ir.Operation) -> Plan | None:
        x = operand(op, 2)
        if x is None:
            return None
        shape = type_of(x).shape
        given = op.operands[1]
        dims = list(range(len(shape))) if torch.is_none(given) else dims_of(given, len(shape))
        if dims is None:
            return None
        return lambda: reduce(
            lambda value, dim: turned(value, dim, _middle(shape[dim], inverse), inverse), dims, x
        )

    return planned


def _middle(size: int | None, inverse: bool) -> int | None:
    return None if size is None else (size + (not inverse)) // 2


def rolled(op: ir.Operation) -> Plan | None:
    """`aten.roll` without dimensions, of the elements in order; IREE lowers the others."""
    x = operand(op, 3)
    if x is None:
        return None
    shifts, dims = torch.integers_of(op.operands[1]), torch.integers_of(op.operands[2])
    sizes = known(type_of(x).shape)
    if shifts is None or dims != [] or len(shifts) != 1 or sizes is None:
        return None
    count = prod(sizes)
    if count < 2:
        return lambda: x
    return lambda: reshaped(turned(flat(x), 0, -shifts[0] % count), sizes)


def on_diagonal(op: ir.Operation) -> Plan | None:
    """`aten.diagflat`: all elements, in order, on one diagonal of a square."""
    x = operand(op, 2)
    offset = None if x is None else torch.integer_of(op.operands[1])
    if x is None or offset is None:
        return None
    sizes = known(type_of(x).shape)
    side = None if sizes is None else prod(sizes) + abs(offset)
    made = TensorType((side, side), type_of(x).element)

    def build() -> ir.Value:
        numbers = [torch.integer(one) for one in (offset, -2, -1)]
        return apply("aten.diag_embed", [flat(x), *numbers], made)

    return build
