"""Losses over class indices as a gather, a mask and a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_NONE, _MEAN, _SUM = 0, 1, 2
"""at::Reduction of PyTorch."""


@register_pass
@dataclass(frozen=True)
class DecomposeNllLoss(FrontEndRemedy):
    """Writes `aten.nll_loss_forward`, and `aten.cross_entropy_loss` over class indices, as torch defines them.

    The probability of the target class is gathered from every row, negated and weighted; rows whose target is `ignore_index` count as
    nothing. IREE 3.13 decomposes the loss into ops without a rank and stops there. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-nll-loss"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.nll_loss_forward` and `aten.cross_entropy_loss` with a gather, a mask and a sum (in the input)"
    )
    repairs: ClassVar[str] = "losses over class indices, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a gather, a mask and a sum"
    advice: ClassVar[str] = "rewrite it as a gather, a mask and a sum"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name == "aten.cross_entropy_loss" and len(op.operands) == 6:
            if torch.number_of(op.operands[5]) != 0.0:  # labels that are smoothed
                return False
        elif name != "aten.nll_loss_forward" or len(op.operands) != 5:
            return False
        scores, target, weight = (torch.TensorType.of(one) for one in list(op.operands)[:3])
        if scores is None or target is None or not torch.is_none(op.operands[2]) and weight is None:
            return False
        shapes_agree = scores.shape[:1] + scores.shape[2:] == target.shape and None not in scores.shape
        reduction, ignored = torch.integer_of(op.operands[3]), torch.integer_of(op.operands[4])
        known = reduction in (_NONE, _MEAN, _SUM) and ignored is not None
        return len(scores.shape) > 1 and shapes_agree and target.element == "si64" and known

    def written(self, op: ir.Operation) -> list[ir.Value]:
        scores, target, weight = list(op.operands)[:3]
        reduction, ignored = torch.integer_of(op.operands[3]), torch.integer_of(op.operands[4])
        type_, rows = torch.TensorType.of(scores), torch.TensorType.of(target)
        assert type_ is not None and rows is not None and ignored is not None
        losses = torch.TensorType(rows.shape, type_.element)
        one = torch.integer(1)
        if torch.front_end_name(op) == "aten.cross_entropy_loss":
            scores = torch.apply("aten.log_softmax.int", [scores, one, torch.none()], type_)
        counts = torch.apply(
            "aten.ne.Scalar", [target, torch.integer(ignored)], torch.TensorType(rows.shape, "i1")
        )
        safe = torch.apply("aten.where.ScalarOther", [counts, target, torch.integer(0)], rows)
        index = torch.apply(
            "aten.unsqueeze", [safe, one], torch.TensorType((rows.shape[0], 1, *rows.shape[1:]), "si64")
        )
        picked = torch.apply(
            "aten.gather",
            [scores, one, index, torch.boolean(False)],
            torch.TensorType((rows.shape[0], 1, *rows.shape[1:]), type_.element),
        )
        loss = torch.apply("aten.neg", [torch.apply("aten.squeeze.dim", [picked, one], losses)], losses)
        if torch.is_none(weight):
            weights = torch.apply("aten.ones_like", [loss, *(torch.none() for _ in range(5))], losses)
        else:
            listed = ir.Operation.create(
                "torch.prim.ListConstruct",
                results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
                operands=[safe],
            ).result
            weights = torch.apply("aten.index.Tensor", [weight, listed], losses)
            loss = torch.apply("aten.mul.Tensor", [loss, weights], losses)
        loss, weights = (_where(counts, value, losses) for value in (loss, weights))
        scalar = torch.TensorType((), type_.element)
        total = torch.apply("aten.sum", [weights, torch.none()], scalar)
        if reduction != _NONE:
            loss = torch.apply("aten.sum", [loss, torch.none()], scalar)
        if reduction == _MEAN:
            loss = torch.apply("aten.div.Tensor", [loss, total], scalar)
        return [loss, total][: len(op.results)]


def _where(counts: ir.Value, value: ir.Value, type_: torch.TensorType) -> ir.Value:
    """``value`` where ``counts``, and nothing elsewhere."""
    return torch.apply("aten.where.ScalarOther", [counts, value, torch.real(0.0)], type_)
