"""Sums and means that leave out NaNs, deviations beside means, medians and sorted columns."""

from __future__ import annotations

from math import nan, prod

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import inserted, type_of, without
from ..torch_ops import TensorType, apply
from .composite import Composite, is_nan, rank_of


def _dims(op: ir.Operation, at: int) -> list[int] | None:
    """The dimensions that operand ``at`` lists, counted from the front; all of them where it is none or empty; None where they are not known."""
    rank = rank_of(op.operands[0])
    given = [] if torch.is_none(op.operands[at]) else torch.integers_of(op.operands[at])
    if given is None or any(not -rank <= dim < rank for dim in given):
        return None
    return [dim % rank for dim in given] or list(range(rank))


def _keeps(op: ir.Operation, at: int) -> bool:
    return bool(torch.boolean_of(op.operands[at]))


def _leaves_out(op: ir.Operation) -> bool:
    return _dims(op, 1) is not None and torch.boolean_of(op.operands[2]) is not None and torch.is_none(op.operands[3])  # fmt: skip


def _nan_sum(op: ir.Operation) -> list[Tensor]:
    x = Tensor.wide(op.operands[0])
    return [is_nan(x).chosen(0.0, x).summed(_dims(op, 1) or [], _keeps(op, 2))]


def _nan_mean(op: ir.Operation) -> list[Tensor]:
    x, dims, keep = Tensor.wide(op.operands[0]), _dims(op, 1) or [], _keeps(op, 2)
    empty = is_nan(x)
    counted = empty.chosen(0.0, _ones(x))
    return [empty.chosen(0.0, x).summed(dims, keep) / counted.summed(dims, keep)]


def _ones(x: Tensor) -> Tensor:
    return x.zeros() + 1.0


def _deviation(x: Tensor, dims: list[int], correction: float, keep: bool) -> list[Tensor]:
    """The standard deviation over ``dims``, and the mean."""
    shape = x.type_.shape
    left = tuple(1 if at in dims else one for at, one in enumerate(shape) if keep or at not in dims)
    made, over, kept = TensorType(left, x.type_.element), torch.integers(dims), torch.boolean(keep)
    deviation = apply("aten.std.correction", [x.value, over, torch.real(correction), kept], made)
    return [Tensor(deviation), Tensor(apply("aten.mean.dim", [x.value, over, kept, torch.none()], made))]


def _std_mean(op: ir.Operation) -> list[Tensor]:
    x = Tensor.wide(op.operands[0])
    return _deviation(x, list(range(x.rank)), 1.0 if torch.boolean_of(op.operands[1]) else 0.0, False)


def _std_mean_dim(op: ir.Operation) -> list[Tensor]:
    unbiased = 1.0 if torch.boolean_of(op.operands[2]) else 0.0
    return _deviation(Tensor.wide(op.operands[0]), _dims(op, 1) or [], unbiased, _keeps(op, 3))


def _std_mean_correction(op: ir.Operation) -> list[Tensor]:
    given = 1.0 if torch.is_none(op.operands[2]) else torch.number_of(op.operands[2])
    return _deviation(Tensor.wide(op.operands[0]), _dims(op, 1) or [], given or 0.0, _keeps(op, 3))


def _has_rank(op: ir.Operation) -> bool:
    return rank_of(op.operands[0]) > 0 and len(op.results) == 2


def _deviates(op: ir.Operation) -> bool:
    return _has_rank(op) and _dims(op, 1) is not None


def _corrects(op: ir.Operation) -> bool:
    known = torch.is_none(op.operands[2]) or torch.number_of(op.operands[2]) is not None
    return _deviates(op) and known


def _log_determinant(op: ir.Operation) -> list[Tensor]:
    x = Tensor.wide(op.operands[0])
    made = TensorType(x.type_.shape[:-2], "f32")
    return [Tensor(apply("aten.linalg_det", [x.value], made)).of("log")]


def _sorted(x: ir.Value, dim: int) -> list[ir.Value]:
    """The elements along ``dim``, the smallest first, and where they were."""
    type_ = type_of(x)
    results = [type_.ir_type(), TensorType(type_.shape, "si64").ir_type()]
    operands = [x, torch.integer(dim), torch.boolean(False)]
    return list(ir.Operation.create("torch.aten.sort", results=results, operands=operands).results)


def _sorted_columns(op: ir.Operation) -> list[Tensor]:
    return [Tensor(_sorted(op.operands[0], 0)[0])]


def _count(op: ir.Operation) -> int:
    shape = type_of(op.operands[0]).shape
    return 0 if None in shape else prod(size or 0 for size in shape)


def _median(op: ir.Operation) -> list[Tensor]:
    count = _count(op)
    flat = TensorType((count,), type_of(op.operands[0]).element)
    return _middle(apply("aten.view", [op.operands[0], torch.integers([count])], flat), 0)[:1]


def _median_dim(op: ir.Operation) -> list[Tensor]:
    x, keep = op.operands[0], torch.boolean_of(op.operands[2])
    dim = (torch.integer_of(op.operands[1]) or 0) % rank_of(x)
    return [Tensor(inserted(one.value, dim)) if keep else one for one in _middle(x, dim)]


def _middle(x: ir.Value, dim: int) -> list[Tensor]:
    """The lower of the two in the middle along ``dim`` and its place; those of the first NaN where there is one."""
    type_ = type_of(x)
    place = [torch.integer(dim), torch.integer(((type_.shape[dim] or 1) - 1) // 2)]
    made = without(type_, dim)
    middle, at = (
        Tensor(apply("aten.select.int", [one, *place], TensorType(made.shape, element)))
        for one, element in zip(_sorted(x, dim), (type_.element, "si64"), strict=True)
    )
    empty = is_nan(Tensor(x))
    over = [torch.integer(dim), torch.boolean(False)]
    found = Tensor(apply("aten.any.dim", [empty.value, *over], TensorType(made.shape, "i1")))
    first = apply(
        "aten.argmax", [torch.converted(empty.value, "si64"), *over], TensorType(made.shape, "si64")
    )
    return [found.chosen(nan, middle), found.chosen(Tensor(first), at)]


def _has_size(op: ir.Operation) -> bool:
    rank, dim = rank_of(op.operands[0]), torch.integer_of(op.operands[1])
    if dim is None or not -rank <= dim < rank or torch.boolean_of(op.operands[2]) is None:
        return False
    type_ = type_of(op.operands[0])
    return bool(type_.shape[dim]) and type_.element in torch.FLOATS and len(op.results) == 2


STATISTICS = {
    "aten.nansum": Composite(4, _nan_sum, _leaves_out),
    "aten.nanmean": Composite(4, _nan_mean, _leaves_out),
    "aten.std_mean": Composite(2, _std_mean, _has_rank),
    "aten.std_mean.dim": Composite(4, _std_mean_dim, _deviates),
    "aten.std_mean.correction": Composite(4, _std_mean_correction, _corrects),
    "aten.logdet": Composite(1, _log_determinant, lambda op: rank_of(op.operands[0]) >= 2),
    "aten.msort": Composite(1, _sorted_columns, lambda op: rank_of(op.operands[0]) > 0),
    "aten.median": Composite(1, _median, lambda op: _count(op) > 0),
    "aten.median.dim": Composite(3, _median_dim, _has_size, floats=False),
}
"""Op -> what takes its place."""
