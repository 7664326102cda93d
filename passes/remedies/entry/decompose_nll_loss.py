"""Losses over classes as a gather or a product, a mask and a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

NONE, MEAN, SUM = 0, 1, 2
"""at::Reduction of PyTorch."""
_CROSS_ENTROPY = "aten.cross_entropy_loss"
_RESULTS = {
    _CROSS_ENTROPY: 1, "aten.nll_loss": 1, "aten.nll_loss2d": 1, "aten.nll_loss_nd": 1,
    "aten.nll_loss_forward": 2, "aten.nll_loss2d_forward": 2,
}  # fmt: skip
"""The names of losses, and how many results they have: a second one is the sum of the weights."""


@dataclass(frozen=True)
class Loss:
    """The operands of a loss, and what they hold where that is known."""

    scores: ir.Value
    type_: torch.TensorType
    target: ir.Value
    weight: ir.Value | None
    reduction: int
    ignored: int
    smoothing: float
    of_scores: bool
    """Whether the operand holds scores, and not the logarithms of probabilities."""

    @property
    def classes(self) -> int:
        """The dimension of the classes: one row of scores has no batch before it."""
        return min(1, len(self.type_.shape) - 1)

    @property
    def rows(self) -> torch.TensorType:
        """One number for each row of scores."""
        shape, dim = self.type_.shape, self.classes
        return torch.TensorType((*shape[:dim], *shape[dim + 1 :]), self.type_.element)

    @staticmethod
    def of(op: ir.Operation) -> Loss | None:
        """None for another op, and where a constant or a type is not known."""
        name, given = torch.front_end_name(op), list(op.operands)
        cross = name == _CROSS_ENTROPY
        if len(op.results) != _RESULTS.get(name) or len(given) != (6 if cross else 5):
            return None
        type_ = torch.TensorType.of(given[0])
        reduction, ignored = torch.integer_of(given[3]), torch.integer_of(given[4])
        smoothing = torch.number_of(given[5]) if cross else 0.0
        if type_ is None or reduction not in (NONE, MEAN, SUM) or ignored is None or smoothing is None:
            return None
        weight = None if torch.is_none(given[2]) else given[2]
        return Loss(given[0], type_, given[1], weight, reduction, ignored, smoothing, cross)


@register_pass
@dataclass(frozen=True)
class DecomposeNllLoss(FrontEndRemedy):
    """Writes `aten.nll_loss*` and `aten.cross_entropy_loss` as torch defines them, over class indices or probabilities of classes.

    The probability of the target class is gathered from every row, negated and weighted; rows whose target is `ignore_index` count as
    nothing. Smoothed labels add the mean over all classes. Targets that are probabilities are multiplied with the rows. IREE 3.13
    decomposes a loss over class indices into ops without a rank and stops there, and has no lowering for the others. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-nll-loss"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.nll_loss*` and `aten.cross_entropy_loss` with a gather or a product, a mask and a sum (in the input)"
    )
    repairs: ClassVar[str] = "losses over classes, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a gather, a mask and a sum"
    advice: ClassVar[str] = "rewrite it as a gather, a mask and a sum"

    def fits(self, op: ir.Operation) -> bool:
        loss = Loss.of(op)
        if loss is None or not loss.type_.shape or loss.type_.element not in torch.FLOATS:
            return False
        number = loss.type_.shape[loss.classes]
        if loss.weight is not None:
            weight = torch.TensorType.of(loss.weight)
            if weight is None or number is None or weight != torch.TensorType((number,), loss.type_.element):
                return False
        target = torch.TensorType.of(loss.target)
        by_index = target == torch.TensorType(loss.rows.shape, "si64")
        by_probability = loss.of_scores and target == loss.type_
        return (by_index or by_probability) and (loss.smoothing == 0.0 or number is not None)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        loss = Loss.of(op)
        assert loss is not None
        scores = loss.scores
        if loss.of_scores:
            dim = torch.integer(loss.classes)
            scores = torch.apply("aten.log_softmax.int", [scores, dim, torch.none()], loss.type_)
        if torch.TensorType.of(loss.target) == loss.type_:
            return [torch.cast(_of_probabilities(loss, scores), op.results[0].type)]
        values = of_indices(loss, scores)[: len(op.results)]
        return [torch.cast(value, result.type) for value, result in zip(values, op.results, strict=True)]


def _of_probabilities(loss: Loss, scores: ir.Value) -> ir.Value:
    """The mean is over rows: torch divides by their number, whatever they weigh."""
    target, type_ = loss.target, loss.type_
    if loss.smoothing:
        kept = torch.apply("aten.mul.Scalar", [target, torch.real(1.0 - loss.smoothing)], type_)
        more = torch.real(loss.smoothing / _count(loss))
        target = torch.apply("aten.add.Scalar", [kept, more, torch.integer(1)], type_)
    product = torch.apply("aten.mul.Tensor", [scores, target], type_)
    rows = _over_classes(loss, product)
    if loss.reduction == NONE:
        return rows
    scalar = torch.TensorType((), type_.element)
    return torch.apply("aten.mean" if loss.reduction == MEAN else "aten.sum", [rows, torch.none()], scalar)


def of_indices(loss: Loss, scores: ir.Value) -> list[ir.Value]:
    """The loss, and the sum of the weights of the rows that count."""
    rows, indices = loss.rows, torch.TensorType(loss.rows.shape, "si64")
    counts = torch.apply(
        "aten.ne.Scalar", [loss.target, torch.integer(loss.ignored)], torch.TensorType(rows.shape, "i1")
    )
    safe = torch.apply("aten.where.ScalarOther", [counts, loss.target, torch.integer(0)], indices)
    value = _picked(loss, scores, safe)
    if loss.weight is None:
        weights = torch.apply("aten.ones_like", [value, *(torch.none() for _ in range(5))], rows)
    else:
        listed = ir.Operation.create(
            "torch.prim.ListConstruct",
            results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
            operands=[safe],
        ).result
        weights = torch.apply("aten.index.Tensor", [loss.weight, listed], rows)
        value = torch.apply("aten.mul.Tensor", [value, weights], rows)
    if loss.smoothing:
        kept = torch.apply("aten.mul.Scalar", [value, torch.real(1.0 - loss.smoothing)], rows)
        share = torch.real(loss.smoothing / _count(loss))
        evenly = torch.apply("aten.mul.Scalar", [_over_classes(loss, scores), share], rows)
        value = torch.apply("aten.add.Tensor", [kept, evenly, torch.integer(1)], rows)
    value, weights = (_where(counts, one, rows) for one in (value, weights))
    scalar = torch.TensorType((), rows.element)
    if loss.reduction == NONE and rows.shape:  # torch adds no weights up
        return [value, torch.literal("0.0", rows.element)]
    value, total = (torch.apply("aten.sum", [one, torch.none()], scalar) for one in (value, weights))
    if loss.reduction == MEAN:
        value = torch.apply("aten.div.Tensor", [value, total], scalar)
    return [value, total]


def _picked(loss: Loss, scores: ir.Value, index: ir.Value) -> ir.Value:
    """The negated score of one class in each row."""
    rows, dim = loss.rows, torch.integer(loss.classes)
    shape = (*rows.shape[: loss.classes], 1, *rows.shape[loss.classes :])
    index = torch.apply("aten.unsqueeze", [index, dim], torch.TensorType(shape, "si64"))
    made = torch.TensorType(shape, rows.element)
    picked = torch.apply("aten.gather", [scores, dim, index, torch.boolean(False)], made)
    return torch.apply("aten.neg", [torch.apply("aten.squeeze.dim", [picked, dim], rows)], rows)


def _over_classes(loss: Loss, value: ir.Value) -> ir.Value:
    """The negated sum of each row of ``value``, every class with its weight."""
    type_, dim = loss.type_, loss.classes
    if loss.weight is not None:
        weight, made = loss.weight, torch.TensorType((type_.shape[dim],), type_.element)
        for _ in range(len(type_.shape) - 1 - dim):
            made = torch.TensorType((*made.shape, 1), made.element)
            weight = torch.apply("aten.unsqueeze", [weight, torch.integer(len(made.shape) - 1)], made)
        value = torch.apply("aten.mul.Tensor", [value, weight], type_)
    over = [torch.integers([dim]), torch.boolean(False), torch.none()]
    return torch.apply(
        "aten.neg", [torch.apply("aten.sum.dim_IntList", [value, *over], loss.rows)], loss.rows
    )


def _count(loss: Loss) -> int:
    """The number of classes, which `fits` has seen."""
    return loss.type_.shape[loss.classes] or 1


def _where(counts: ir.Value, value: ir.Value, type_: torch.TensorType) -> ir.Value:
    """``value`` where ``counts``, and nothing elsewhere."""
    return torch.apply("aten.where.ScalarOther", [counts, value, torch.real(0.0)], type_)
