"""Sums and means that leave out NaNs, deviations beside means, and sorted columns."""

from __future__ import annotations

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import type_of
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


def _sorted_columns(op: ir.Operation) -> list[Tensor]:
    type_ = type_of(op.operands[0])
    results = [type_.ir_type(), TensorType(type_.shape, "si64").ir_type()]
    operands = [op.operands[0], torch.integer(0), torch.boolean(False)]
    return [Tensor(ir.Operation.create("torch.aten.sort", results=results, operands=operands).results[0])]


STATISTICS = {
    "aten.nansum": Composite(4, _nan_sum, _leaves_out),
    "aten.nanmean": Composite(4, _nan_mean, _leaves_out),
    "aten.std_mean": Composite(2, _std_mean, _has_rank),
    "aten.std_mean.dim": Composite(4, _std_mean_dim, _deviates),
    "aten.std_mean.correction": Composite(4, _std_mean_correction, _corrects),
    "aten.logdet": Composite(1, _log_determinant, lambda op: rank_of(op.operands[0]) >= 2),
    "aten.msort": Composite(1, _sorted_columns, lambda op: rank_of(op.operands[0]) > 0),
}
"""Op -> what takes its place."""
