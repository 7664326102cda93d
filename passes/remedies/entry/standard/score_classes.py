"""Losses of ONNX over classes as a gather, a mask and a sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..decompose_nll_loss import MEAN, NONE, SUM, Loss, of_indices
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType

_CROSS_ENTROPY = "onnx.SoftmaxCrossEntropyLoss"
_LOSSES = (_CROSS_ENTROPY, "onnx.NegativeLogLikelihoodLoss")
_REDUCTIONS = {"": MEAN, "mean": MEAN, "none": NONE, "sum": SUM}
_NO_CLASS = -1
"""What no target is, where the model ignores none."""


@register_pass
@dataclass(frozen=True)
class ScoreClasses(FrontEndRemedy):
    """Writes `onnx.SoftmaxCrossEntropyLoss` and `onnx.NegativeLogLikelihoodLoss` as a gather, a mask and a sum.

    IREE 3.13 lowers them where the scores have two dimensions, and rejects the others. It divides the weighted mean of the first by
    something else than the sum of the weights (FIS162). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-score-classes"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `onnx.SoftmaxCrossEntropyLoss` and `onnx.NegativeLogLikelihoodLoss` with a gather, a mask and a sum (in the input)"
    )
    repairs: ClassVar[str] = (
        "losses over classes of ONNX models with more than two dimensions, which IREE rejects (FIS421), and weighted means of a "
        "SoftmaxCrossEntropyLoss, which it divides by another sum (FIS162)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a gather, a mask and a sum"
    advice: ClassVar[str] = "rewrite it as a gather, a mask and a sum"

    def fits(self, op: ir.Operation) -> bool:
        loss = _loss(op)
        if loss is None:
            return False
        shape = loss.type_.shape
        weighted_mean = loss.of_scores and loss.weight is not None and loss.reduction == MEAN
        if len(shape) == 2 and None not in shape and not weighted_mean:
            return False  # IREE lowers it
        target = TensorType.of(loss.target)
        if (
            target is None
            or target.element not in ("si64", "si32")
            or len(target.shape) != len(loss.rows.shape)
        ):
            return False
        if loss.weight is None:
            return True
        weight = TensorType.of(loss.weight)
        return weight is not None and len(weight.shape) == 1 and weight.element == loss.type_.element

    def written(self, op: ir.Operation) -> list[ir.Value]:
        loss = _loss(op)
        assert loss is not None  # `fits`
        scores = loss.scores
        if loss.of_scores:
            over = [torch.integer(1), torch.none()]
            scores = torch.apply("aten.log_softmax.int", [scores, *over], loss.type_)
        target = torch.cast(
            torch.converted(loss.target, "si64"), TensorType(loss.rows.shape, "si64").ir_type()
        )
        made, _weights = of_indices(replace(loss, target=target), scores)
        values = [made, scores][: len(op.results)]
        results = [one.type for one in op.results]
        return [
            torch.none() if str(type_) == "!torch.none" else torch.cast(value, type_)
            for value, type_ in zip(values, results, strict=True)
        ]


def _loss(op: ir.Operation) -> Loss | None:
    """None for another op, and for one of another type or rank."""
    name, given = torch.front_end_name(op), list(op.operands)
    cross = name == _CROSS_ENTROPY
    if name not in _LOSSES or len(given) not in (2, 3) or len(op.results) not in ((1, 2) if cross else (1,)):
        return None
    type_, reduction = TensorType.of(given[0]), _REDUCTIONS.get(text_of(op, "torch.onnx.reduction"))
    if type_ is None or type_.element not in torch.FLOATS or len(type_.shape) < 2 or reduction is None:
        return None
    return Loss(
        scores=given[0],
        type_=type_,
        target=given[1],
        weight=given[2] if len(given) == 3 and not torch.is_none(given[2]) else None,
        reduction=reduction,
        ignored=number(op, "ignore_index", _NO_CLASS),
        smoothing=0.0,
        of_scores=cross,
    )
