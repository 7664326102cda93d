"""Losses between tensors, as PyTorch defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_LEAST_LOGARITHM = -100.0
"""PyTorch clamps the logarithms of a cross entropy there (aten/src/ATen/native/Loss.cpp)."""
_SMALLEST_LENGTH = 1e-12
"""Added to squared lengths in a cosine (the same file)."""


@register_pass
@dataclass(frozen=True)
class WriteOutLosses(FrontEndRemedy):
    """Writes Huber's, smooth L1, binary cross entropy, margin, triplet, hinge, soft margin, cosine and Poisson losses element by element, and reduces.

    IREE 3.13 has no name for most of these ops, and stops in the decomposition of the others where the batch is dynamic, there are no dimensions, or
    weights are broadcast. Tensors have one element type, and shapes that broadcast; those of a triplet and of a cosine are rows. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-out-losses"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.huber_loss`, `smooth_l1_loss`, `binary_cross_entropy`, `margin_ranking_loss`, `triplet_margin_loss`, "
        "`hinge_embedding_loss`, `soft_margin_loss`, `cosine_embedding_loss` and `poisson_nll_loss` with what they compute of each element (in the input)"
    )
    repairs: ClassVar[str] = "losses between tensors, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "wrote out what it computes of each element"
    advice: ClassVar[str] = "write out what it computes of each element"

    def fits(self, op: ir.Operation) -> bool:
        loss = _LOSSES.get(torch.front_end_name(op))
        if loss is None or len(op.operands) != loss.operands or len(op.results) != 1:
            return False
        operands, reduction = _sorted(op)
        if torch.integer_of(reduction) not in (NONE, MEAN, SUM):
            return False
        types = [TensorType.of(one) for one in operands[: loss.tensors] if not torch.is_none(one)]
        known = [one for one in types if one is not None]
        first = known[0] if known else None
        if first is None or len(known) < len(types) or first.element not in torch.FLOATS:
            return False
        if loss.rows:
            rows = TensorType(first.shape[:1], first.element)
            expected = [first, first, rows if torch.front_end_name(op) == _COSINE else first]
            if len(first.shape) != 2 or known != expected:
                return False
        elif any(one.element != first.element for one in known) or not _broadcast(known):
            return False
        if loss.written is _triplet and torch.number_of(operands[4]) not in (1.0, 2.0):
            return False
        return all(_is_known(one) for one in operands[loss.tensors :])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        operands, how = _sorted(op)
        loss = _LOSSES[torch.front_end_name(op)]
        tensors = [None if torch.is_none(one) else Tensor(one) for one in operands[: loss.tensors]]
        value = loss.written(*tensors, *(_constant(one) for one in operands[loss.tensors :]))
        return [value.reduced(torch.integer_of(how) or NONE).as_result(op.results[0])]


def _sorted(op: ir.Operation) -> tuple[list[ir.Value], ir.Value]:
    """The operands of ``op`` without its reduction, and that: it is the last one, but for two losses."""
    operands = list(op.operands)
    return operands, operands.pop(2 if torch.front_end_name(op) in _REDUCTION_THIRD else -1)


def _broadcast(types: list[TensorType]) -> bool:
    """Whether the shapes are broadcast as it is known here: in each dimension the sizes are the same, or 1."""
    rank = max(len(one.shape) for one in types)
    padded = [(1,) * (rank - len(one.shape)) + one.shape for one in types]
    return all(len({size for size in sizes if size != 1}) <= 1 for sizes in zip(*padded, strict=True))


def _is_known(value: ir.Value) -> bool:
    return torch.number_of(value) is not None or torch.boolean_of(value) is not None


def _constant(value: ir.Value) -> float:
    number = torch.number_of(value)
    return float(bool(torch.boolean_of(value)) if number is None else number)


def _row_sums(rows: Tensor) -> Tensor:
    return rows.summed([1], keep=False)


def _huber(x: Tensor, y: Tensor, delta: float) -> Tensor:
    far = (x - y).of("abs")
    return far.is_("lt", delta).chosen(far * far * 0.5, (far - 0.5 * delta) * delta)


def _smooth(x: Tensor, y: Tensor, beta: float) -> Tensor:
    far = (x - y).of("abs")
    if beta == 0.0:
        return far
    return far.is_("lt", beta).chosen(far * far * (0.5 / beta), far - 0.5 * beta)


def _binary(x: Tensor, y: Tensor, weight: Tensor | None) -> Tensor:
    yes = x.of("log").at_least(_LEAST_LOGARITHM)
    no = (-x).of("log1p").at_least(_LEAST_LOGARITHM)
    loss = (y - 1.0) * no - y * yes
    return loss if weight is None else loss * weight


def _ranking(x: Tensor, y: Tensor, sign: Tensor, margin: float) -> Tensor:
    return (sign * (y - x) + margin).at_least(0.0)


def _triplet(
    anchor: Tensor, near: Tensor, far: Tensor, margin: float, power: float, least: float, swap: float
) -> Tensor:
    def distance(one: Tensor, other: Tensor) -> Tensor:
        apart = (one - other + least).of("abs")
        return _row_sums(apart) if power == 1.0 else _row_sums(apart * apart).of("sqrt")

    away = distance(anchor, far)
    if swap:
        away = away.smaller(distance(near, far))
    return (distance(anchor, near) - away + margin).at_least(0.0)


def _hinge(x: Tensor, sign: Tensor, margin: float) -> Tensor:
    inside = (-x + margin).at_least(0.0)
    return sign.is_("ne", 1.0).chosen(inside, 0.0) + sign.is_("ne", -1.0).chosen(x, 0.0)


def _soft(x: Tensor, sign: Tensor) -> Tensor:
    return (-(sign * x)).of("exp").of("log1p")


def _cosine(x: Tensor, y: Tensor, sign: Tensor, margin: float) -> Tensor:
    lengths = [_row_sums(one * one) + _SMALLEST_LENGTH for one in (x, y)]
    cosine = _row_sums(x * y) / (lengths[0] * lengths[1]).of("sqrt")
    together, apart = 1.0 - cosine, (cosine - margin).at_least(0.0)
    return sign.is_("eq", 1.0).chosen(together, 0.0) + sign.is_("eq", -1.0).chosen(apart, 0.0)


def _poisson(x: Tensor, y: Tensor, is_logarithm: float, is_full: float, least: float) -> Tensor:
    loss = x.of("exp") - y * x if is_logarithm else x - y * (x + least).of("log")
    if not is_full:
        return loss
    logarithm = y.of("log")
    stirling = y * logarithm - y + (logarithm + log(2.0 * pi)) * 0.5
    return loss + y.is_("gt", 1.0).chosen(stirling, 0.0)


@dataclass(frozen=True)
class _Loss:
    """How many operands it has, how many of them are tensors, and whether it compares rows."""

    operands: int
    tensors: int
    written: Callable[..., Tensor]
    rows: bool = False


_REDUCTION_THIRD = ("aten.huber_loss", "aten.smooth_l1_loss")
_COSINE = "aten.cosine_embedding_loss"
_LOSSES = {
    "aten.huber_loss": _Loss(4, 2, _huber),
    "aten.smooth_l1_loss": _Loss(4, 2, _smooth),
    "aten.binary_cross_entropy": _Loss(4, 3, _binary),
    "aten.margin_ranking_loss": _Loss(5, 3, _ranking),
    "aten.triplet_margin_loss": _Loss(8, 3, _triplet, rows=True),
    "aten.hinge_embedding_loss": _Loss(4, 2, _hinge),
    "aten.soft_margin_loss": _Loss(3, 2, _soft),
    _COSINE: _Loss(5, 3, _cosine, rows=True),
    "aten.poisson_nll_loss": _Loss(6, 2, _poisson),
}
