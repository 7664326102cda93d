"""Norms, distances, a loss, affine grids, and writes to elements by their positions or by a mask."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor
from ..tensors.values import from_front, inserted, size_of, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, norm, rank_of


def _scattered(op: ir.Operation) -> list[Tensor]:
    """Into a tensor of the shape of the result, by a mask of it."""
    made, (value, mask, source) = type_of(op.results[0]), op.operands
    wide = [_broadcast(one, made.shape) for one in (value, mask)]
    return [Tensor(apply("aten.masked_scatter", [*wide, source], made))]


def _broadcast(value: ir.Value, shape: tuple[int | None, ...]) -> ir.Value:
    made = TensorType(shape, type_of(value).element)
    if made == type_of(value):
        return value
    return apply("aten.broadcast_to", [value, torch.integers([one or 0 for one in shape])], made)


def _is_narrow(op: ir.Operation) -> bool:
    value, mask, made = (TensorType.of(one) for one in (*list(op.operands)[:2], op.results[0]))
    if value is None or mask is None or made is None or None in made.shape:
        return False
    return {value.shape, mask.shape} != {made.shape}


def _ranked(op: ir.Operation) -> list[Tensor]:
    """max(0, margin - y (a - b))."""
    first, second, sign = (Tensor.wide(one) for one in list(op.operands)[:3])
    margin, how = torch.number_of(op.operands[3]) or 0.0, torch.integer_of(op.operands[4])
    loss = (-(sign * (first - second)) + margin).at_least(0.0)
    return [loss.reduced(how if how is not None else MEAN)]


def _ranks(op: ir.Operation) -> bool:
    first, second, sign = (TensorType.of(one) for one in list(op.operands)[:3])
    if first is None or second is None or sign is None or not {first.element, second.element} <= torch.FLOATS.keys():  # fmt: skip
        return False
    known = torch.number_of(op.operands[3]) is not None
    return known and torch.integer_of(op.operands[4]) in (NONE, MEAN, SUM)


def _vector_norm(op: ir.Operation) -> list[Tensor]:
    value, order, dims = Tensor.wide(op.operands[0]), op.operands[1], op.operands[2]
    p = 2.0 if torch.is_none(order) else torch.number_of(order) or 0.0
    over = _normed(value, dims)
    return [norm(value, p, over or [], bool(torch.boolean_of(op.operands[3])))]


def _normed(value: Tensor, dims: ir.Value) -> list[int] | None:
    if torch.is_none(dims):
        return list(range(value.rank))
    found = torch.integers_of(dims)
    if not found or any(not -value.rank <= one < value.rank for one in found):
        return None
    return [one % value.rank for one in found]


def _is_of_vectors(op: ir.Operation) -> bool:
    """Not of a matrix with an order, which is no norm of its elements."""
    given, order = TensorType.of(op.operands[0]), op.operands[1]
    if given is None or not given.shape or torch.boolean_of(op.operands[3]) is None:
        return False
    over = _normed(Tensor(op.operands[0]), op.operands[2])
    if over is None or not torch.is_none(op.operands[4]):
        return False
    return torch.is_none(order) or len(over) == 1 and torch.number_of(order) is not None


def _pairs(op: ir.Operation) -> list[Tensor]:
    """The distance of each row from each behind it."""
    value, p = op.operands[0], torch.number_of(op.operands[1]) or 0.0
    first, second = np.triu_indices(type_of(value).shape[0] or 0, 1)
    made = type_of(value).with_size(0, len(first))
    sides = [
        Tensor.wide(apply("aten.index_select", [value, torch.integer(0), torch.table(at)], made))
        for at in (first.astype(np.int64), second.astype(np.int64))
    ]
    return [norm(sides[0] - sides[1], float(p), [1], False)]


def _has_pairs(op: ir.Operation) -> bool:
    given = TensorType.of(op.operands[0])
    rows = given.shape[0] if given is not None and len(given.shape) == 2 else None
    return rows is not None and 2 <= rows <= 1024 and torch.number_of(op.operands[1]) is not None


def _put(op: ir.Operation) -> list[Tensor]:
    """Elements by their positions among all: a scatter into all of them."""
    value, index, source, adds = op.operands
    rank = rank_of(value)
    flat = torch.merged(value, 0, rank - 1) if rank > 1 else value
    name = "aten.scatter_add" if torch.boolean_of(adds) else "aten.scatter.src"
    places = from_front(index, size_of(flat, 0))
    made = apply(name, [flat, torch.integer(0), places, source], type_of(flat))
    sizes = torch.listed([size_of(value, dim) for dim in range(rank)])
    return [Tensor(apply("aten.reshape", [made, sizes], type_of(value)))]


def _can_put(op: ir.Operation) -> bool:
    value, index, source = (TensorType.of(one) for one in list(op.operands)[:3])
    if value is None or index is None or source is None or not value.shape:
        return False
    alike = index.shape == source.shape and len(index.shape) == 1 and index.element == "si64"
    return alike and source.element == value.element and torch.boolean_of(op.operands[3]) is not None


def _remainder(op: ir.Operation) -> list[Tensor]:
    """Of a number by each element, with the sign of the element."""
    divisor = Tensor(op.operands[1])
    number = divisor.zeros() + (torch.number_of(op.operands[0]) or 0.0)
    return [Tensor(apply("aten.remainder.Tensor", [number.value, divisor.value], divisor.type_))]


def _divides(op: ir.Operation) -> bool:
    return TensorType.of(op.operands[1]) is not None and torch.number_of(op.operands[0]) is not None


def _affine(op: ir.Operation) -> list[Tensor]:
    """A sum for each coordinate: those of the image, from -1 to 1, times a column of the matrix, and the last column."""
    matrix, made = Tensor.wide(op.operands[0]), type_of(op.results[0])
    outermost = bool(torch.boolean_of(op.operands[2]))
    sizes = [one or 0 for one in made.shape[1:-1]]
    count = len(sizes)
    found = _column(matrix, count)
    for number in range(count):
        dim = count - 1 - number  # the first coordinate is that of the last dimension
        size = sizes[dim]
        steps = np.linspace(-1, 1, size, dtype=np.float32) if size > 1 else np.zeros(1, np.float32)
        if not outermost:
            steps = steps * np.float32((size - 1) / size)
        along = Tensor(
            torch.table(steps.reshape([1, *(size if one == dim else 1 for one in range(count)), 1]))
        )
        found = along * _column(matrix, number) + found
    return [found]


def _column(matrix: Tensor, number: int) -> Tensor:
    """[batch, 1, ..., 1, coordinates]."""
    batch, coordinates, _columns = matrix.type_.shape
    made = TensorType((batch, coordinates), matrix.type_.element)
    value = apply("aten.select.int", [matrix.value, torch.integer(2), torch.integer(number)], made)
    for _dim in range(coordinates or 0):
        value = inserted(value, 1)
    return Tensor(value)


def _is_affine(op: ir.Operation) -> bool:
    """Of an image or a volume whose sizes, but for the batch, the result has."""
    matrix, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
    if matrix is None or made is None or len(matrix.shape) != 3 or torch.boolean_of(op.operands[2]) is None:
        return False
    count = len(made.shape) - 2
    sized = count in (2, 3) and None not in made.shape[1:] and 0 not in made.shape
    return sized and matrix.shape[1:] == (count, count + 1) and made.shape[-1] == count


LAYERS = {
    "aten.masked_scatter": Composite(3, _scattered, _is_narrow, floats=False),
    "aten.margin_ranking_loss": Composite(5, _ranked, _ranks, floats=False),
    "aten.linalg_norm": Composite(5, _vector_norm, _is_of_vectors),
    "aten.pdist": Composite(2, _pairs, _has_pairs),
    "aten.affine_grid_generator": Composite(3, _affine, _is_affine),
    "aten.put": Composite(4, _put, _can_put, floats=False),
    "aten.remainder.Scalar_Tensor": Composite(2, _remainder, _divides),
}
"""Op -> what takes its place."""
