"""Gradients of losses between tensors, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor, all_floats
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_LEAST_SPREAD = 1e-12
"""The smallest x (1 - x) by which PyTorch divides (aten/src/ATen/native/Loss.cpp)."""


@register_pass
@dataclass(frozen=True)
class DifferentiateLosses(FrontEndRemedy):
    """Writes the gradients of squared, Huber's, smooth L1, binary cross entropy and soft margin losses as what they are of each element.

    IREE 3.13 has no lowering for them. The tensors have one element type, and operand and target one shape. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-differentiate-losses"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten.mse_loss_backward`, `huber_loss_backward`, `smooth_l1_loss_backward`, `binary_cross_entropy_backward` and "
        "`soft_margin_loss_backward` with what they are of each element (in the input)"
    )
    repairs: ClassVar[str] = "gradients of losses between tensors, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "wrote out what it is of each element"
    advice: ClassVar[str] = "write out what it is of each element"

    def fits(self, op: ir.Operation) -> bool:
        loss = _LOSSES.get(torch.front_end_name(op))
        if loss is None or len(op.operands) != loss.operands or len(op.results) != 1:
            return False
        if torch.integer_of(op.operands[loss.reduction]) not in (NONE, MEAN, SUM):
            return False
        types = all_floats([one for one in op.operands[: loss.tensors] if not torch.is_none(one)])
        if types is None or TensorType.of(op.results[0]) is None or types[1].shape != types[2].shape:
            return False
        return all(torch.number_of(one) is not None for one in op.operands[loss.reduction + 1 :])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        loss = _LOSSES[torch.front_end_name(op)]
        slope, x, y = (Tensor.wide(one) for one in op.operands[:3])
        more = [*op.operands[3 : loss.tensors], *op.operands[loss.reduction + 1 :]]
        value = slope * loss.written(x, y, *more)
        if torch.integer_of(op.operands[loss.reduction]) == MEAN:
            value = value.per_element()
        return [value.as_result(op.results[0])]


def _squared(x: Tensor, y: Tensor) -> Tensor:
    return (x - y) * 2.0


def _smooth(x: Tensor, y: Tensor, beta: ir.Value) -> Tensor:
    apart, bound = x - y, torch.number_of(beta) or 0.0
    sign = apart.is_("le", -bound).chosen(-1.0, apart / bound if bound else apart)
    return apart.is_("ge", bound).chosen(1.0, sign) if bound else _sign(apart)


def _sign(apart: Tensor) -> Tensor:
    """-1 at 0, as PyTorch compares for a bound of 0."""
    negative = apart.is_("le", 0.0).chosen(-1.0, apart)
    return apart.is_("gt", 0.0).chosen(1.0, negative)


def _huber(x: Tensor, y: Tensor, delta: ir.Value) -> Tensor:
    apart, bound = x - y, torch.number_of(delta) or 0.0
    below = apart.is_("le", -bound).chosen(-bound, apart)
    return apart.is_("ge", bound).chosen(bound, below)


def _binary(x: Tensor, y: Tensor, weight: ir.Value) -> Tensor:
    found = (x - y) / ((1.0 - x) * x).at_least(_LEAST_SPREAD)
    return found if torch.is_none(weight) else found * Tensor.wide(weight)


def _soft(x: Tensor, y: Tensor) -> Tensor:
    power = (-(y * x)).of("exp")
    return -(y * power) / (power + 1.0)


@dataclass(frozen=True)
class _Loss:
    """How many operands it has, how many of them are tensors (the incoming gradient is the first), and which one is the reduction."""

    operands: int
    tensors: int
    reduction: int
    written: Callable[..., Tensor]


_LOSSES = {
    "aten.mse_loss_backward": _Loss(4, 3, 3, _squared),
    "aten.huber_loss_backward": _Loss(5, 3, 3, _huber),
    "aten.smooth_l1_loss_backward": _Loss(5, 3, 3, _smooth),
    "aten.binary_cross_entropy_backward": _Loss(5, 4, 4, _binary),
    "aten.soft_margin_loss_backward": _Loss(4, 3, 3, _soft),
}
