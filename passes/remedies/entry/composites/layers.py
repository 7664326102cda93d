"""Convolutions that keep the size, pads that crop, bags of embeddings, inverse short-time Fourier transforms, and small ops of models."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor
from ..tensors.values import from_front, size_of, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, norm, rank_of

_SPATIAL = {f"aten.conv{count}d.padding": count for count in (1, 2, 3)}
"""Op -> how many dimensions its window has."""


def _in_front_of(value: ir.Value, widths: list[tuple[int, int]]) -> ir.Value:
    """``value`` with zeros around its last dimensions: before and behind each of ``widths``."""
    type_ = type_of(value)
    first = len(type_.shape) - len(widths)
    shape = [
        size if size is None or at < first else size + sum(widths[at - first])
        for at, size in enumerate(type_.shape)
    ]
    flat = [one for before, behind in reversed(widths) for one in (before, behind)]
    operands = [value, torch.integers(flat), torch.real(0.0)]
    return apply("aten.constant_pad_nd", operands, TensorType(tuple(shape), type_.element))


def _kept_size(op: ir.Operation) -> list[Tensor]:
    """Zeros on both sides, one more behind where their number is odd, and a convolution without any."""
    value, weight, bias, stride, _padding, dilation, groups = op.operands
    spatial = _SPATIAL[torch.front_end_name(op)]
    window, steps = type_of(weight).shape[2:], _for_each(dilation, spatial)
    totals = [((size or 1) - 1) * step for size, step in zip(window, steps or (), strict=True)]
    padded = _in_front_of(value, [(one // 2, one - one // 2) for one in totals])
    no, zeros = torch.boolean(False), torch.integers([0] * spatial)
    operands = [padded, weight, bias, stride, zeros, dilation, no, zeros, groups]
    return [Tensor(apply("aten.convolution", operands, type_of(op.results[0])))]


def _for_each(value: ir.Value, count: int) -> list[int] | None:
    """The constants of a list, of which one may stand for all."""
    found = torch.integers_of(value)
    if found is None or len(found) not in (1, count):
        return None
    return found * count if len(found) == 1 else found


def _has_even_window(op: ir.Operation) -> bool:
    """The others IREE pads rightly."""
    value, weight = TensorType.of(op.operands[0]), TensorType.of(op.operands[1])
    spatial = _SPATIAL[torch.front_end_name(op)]
    if value is None or weight is None or not len(value.shape) == len(weight.shape) == spatial + 2:
        return False
    strides, steps = (_for_each(op.operands[at], spatial) for at in (3, 5))
    if strides is None or steps is None or None in weight.shape[2:] or len(torch.integers_of(op.operands[5]) or ()) != spatial:  # fmt: skip
        return False
    if torch.string_of(op.operands[4]) != "same" or set(strides) != {1} or len(torch.integers_of(op.operands[3]) or ()) != spatial:  # fmt: skip
        return False
    return any(((size or 1) - 1) * step % 2 for size, step in zip(weight.shape[2:], steps, strict=True))


def _cropped(op: ir.Operation) -> list[Tensor]:
    """What the negative widths take away, and a pad of the rest."""
    value, widths, mode, fill = op.operands
    rank, given = rank_of(value), torch.integers_of(widths) or []
    for at in range(len(given) // 2):
        before, behind = given[2 * at], given[2 * at + 1]
        if min(before, behind) < 0:
            value = torch.sliced(value, rank - 1 - at, max(-before, 0), -max(-behind, 0) or None)
    left = torch.integers([max(one, 0) for one in given])
    return [Tensor(apply("aten.pad", [value, left, mode, fill], type_of(op.results[0])))]


def _crops(op: ir.Operation) -> bool:
    """A pad with constants is `fissile-crop-before-padding`'s; a reflection at what is taken away is not that of the rest."""
    value, widths = TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
    if value is None or not widths or len(widths) % 2 or len(widths) > 2 * len(value.shape):
        return False
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    sizes = value.shape[::-1]
    left = all(size is None or size + min(a, 0) + min(b, 0) > 0 for (a, b), size in zip(pairs, sizes, strict=False))  # fmt: skip
    return left and min(widths) < 0 and torch.string_of(op.operands[2]) in ("replicate", "circular")


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


LAYERS = {
    **{name: Composite(7, _kept_size, _has_even_window) for name in _SPATIAL},
    "aten.pad": Composite(4, _cropped, _crops, floats=False),
    "aten.masked_scatter": Composite(3, _scattered, _is_narrow, floats=False),
    "aten.margin_ranking_loss": Composite(5, _ranked, _ranks, floats=False),
    "aten.linalg_norm": Composite(5, _vector_norm, _is_of_vectors),
    "aten.pdist": Composite(2, _pairs, _has_pairs),
    "aten.put": Composite(4, _put, _can_put, floats=False),
    "aten.remainder.Scalar_Tensor": Composite(2, _remainder, _divides),
}
"""Op -> what takes its place."""
