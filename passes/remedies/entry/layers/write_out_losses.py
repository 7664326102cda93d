"""Losses between tensors of one shape, as PyTorch defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_NONE, _MEAN, _SUM = 0, 1, 2
"""at::Reduction of PyTorch."""
_LEAST_LOGARITHM = -100.0
"""PyTorch clamps the logarithms of a cross entropy there (aten/src/ATen/native/Loss.cpp)."""
_SMALLEST_LENGTH = 1e-12
"""Added to squared lengths in a cosine (the same file)."""


@register_pass
@dataclass(frozen=True)
class WriteOutLosses(FrontEndRemedy):
    """Writes Huber's, smooth L1, binary cross entropy, margin, triplet, hinge, soft margin and cosine losses element by element, and reduces.

    IREE 3.13 has no name for most of these ops, and stops in the decomposition of the others where the batch is dynamic. Tensors have one
    element type and one shape; those of a triplet and of a cosine, rows of it. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-out-losses"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.huber_loss`, `smooth_l1_loss`, `binary_cross_entropy`, `margin_ranking_loss`, `triplet_margin_loss`, "
        "`hinge_embedding_loss`, `soft_margin_loss` and `cosine_embedding_loss` with what they compute of each element (in the input)"
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
        if torch.integer_of(reduction) not in (_NONE, _MEAN, _SUM):
            return False
        types = [TensorType.of(one) for one in operands[: loss.tensors] if not torch.is_none(one)]
        first = types[0]
        if first is None or first.element not in torch.FLOATS or not first.shape:
            return False
        if loss.rows:
            rows = TensorType(first.shape[:1], first.element)
            expected = [first, first, rows if torch.front_end_name(op) == _COSINE else first]
            if len(first.shape) != 2 or types != expected:
                return False
        elif any(one != first for one in types):
            return False
        if loss.written is _triplet and torch.number_of(operands[4]) not in (1.0, 2.0):
            return False
        return all(_is_known(one) for one in operands[loss.tensors :])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        operands, how = _sorted(op)
        made, reduction = op.results[0].type, torch.integer_of(how)
        value = _LOSSES[torch.front_end_name(op)].written(*operands)
        if reduction == _NONE:
            return [torch.cast(value, made)]
        scalar = TensorType((), _type(value).element)
        name = "aten.mean" if reduction == _MEAN else "aten.sum"
        return [torch.cast(apply(name, [value, torch.none()], scalar), made)]


def _sorted(op: ir.Operation) -> tuple[list[ir.Value], ir.Value]:
    """The operands of ``op`` without its reduction, and that: it is the last one, but for two losses."""
    operands = list(op.operands)
    return operands, operands.pop(2 if torch.front_end_name(op) in _REDUCTION_THIRD else -1)


def _is_known(value: ir.Value) -> bool:
    return torch.number_of(value) is not None or torch.boolean_of(value) is not None


def _type(value: ir.Value) -> TensorType:
    type_ = TensorType.of(value)
    assert type_ is not None
    return type_


def _number(value: ir.Value) -> float:
    number = torch.number_of(value)
    assert number is not None  # `fits`
    return float(number)


def _minus(left: ir.Value, right: ir.Value) -> ir.Value:
    return apply("aten.sub.Tensor", [left, right, torch.integer(1)], _type(left))


def _plus(left: ir.Value, right: ir.Value) -> ir.Value:
    return apply("aten.add.Tensor", [left, right, torch.integer(1)], _type(left))


def _times(left: ir.Value, right: ir.Value) -> ir.Value:
    return apply("aten.mul.Tensor", [left, right], _type(left))


def _scaled(value: ir.Value, factor: float) -> ir.Value:
    return apply("aten.mul.Scalar", [value, torch.real(factor)], _type(value))


def _shifted(value: ir.Value, summand: float) -> ir.Value:
    return apply("aten.add.Scalar", [value, torch.real(summand), torch.integer(1)], _type(value))


def _at_least(value: ir.Value, bound: float) -> ir.Value:
    return apply("aten.clamp", [value, torch.real(bound), torch.none()], _type(value))


def _of(name: str, value: ir.Value) -> ir.Value:
    return apply(f"aten.{name}", [value], _type(value))


def _compared(name: str, value: ir.Value, number: float) -> ir.Value:
    made = TensorType(_type(value).shape, "i1")
    return apply(f"aten.{name}.Scalar", [value, torch.real(number)], made)


def _chosen(condition: ir.Value, value: ir.Value, other: ir.Value) -> ir.Value:
    return apply("aten.where.self", [condition, value, other], _type(value))


def _where(condition: ir.Value, value: ir.Value) -> ir.Value:
    return apply("aten.where.ScalarOther", [condition, value, torch.real(0.0)], _type(value))


def _row_sums(value: ir.Value) -> ir.Value:
    type_ = _type(value)
    over = [torch.integers([1]), torch.boolean(False), torch.none()]
    return apply("aten.sum.dim_IntList", [value, *over], TensorType(type_.shape[:1], type_.element))


def _huber(x: ir.Value, y: ir.Value, delta: ir.Value) -> ir.Value:
    far, bound = _of("abs", _minus(x, y)), _number(delta)
    near, line = _scaled(_times(far, far), 0.5), _scaled(_shifted(far, -0.5 * bound), bound)
    return _chosen(_compared("lt", far, bound), near, line)


def _smooth(x: ir.Value, y: ir.Value, beta: ir.Value) -> ir.Value:
    far, bound = _of("abs", _minus(x, y)), _number(beta)
    if bound == 0.0:
        return far
    near = _scaled(_times(far, far), 0.5 / bound)
    return _chosen(_compared("lt", far, bound), near, _shifted(far, -0.5 * bound))


def _binary(x: ir.Value, y: ir.Value, weight: ir.Value) -> ir.Value:
    yes = _at_least(_of("log", x), _LEAST_LOGARITHM)
    no = _at_least(_of("log1p", _scaled(x, -1.0)), _LEAST_LOGARITHM)
    loss = _minus(_times(_shifted(y, -1.0), no), _times(y, yes))
    return loss if torch.is_none(weight) else _times(loss, weight)


def _ranking(x: ir.Value, y: ir.Value, sign: ir.Value, margin: ir.Value) -> ir.Value:
    return _at_least(_shifted(_times(sign, _minus(y, x)), _number(margin)), 0.0)


def _triplet(
    anchor: ir.Value, near: ir.Value, far: ir.Value, margin: ir.Value, power: ir.Value, least: ir.Value, swap: ir.Value
) -> ir.Value:  # fmt: skip
    def distance(one: ir.Value, other: ir.Value) -> ir.Value:
        apart = _of("abs", _shifted(_minus(one, other), _number(least)))
        return _row_sums(apart) if _number(power) == 1.0 else _of("sqrt", _row_sums(_times(apart, apart)))

    away = distance(anchor, far)
    if torch.boolean_of(swap):
        away = apply("aten.minimum", [away, distance(near, far)], _type(away))
    return _at_least(_shifted(_minus(distance(anchor, near), away), _number(margin)), 0.0)


def _hinge(x: ir.Value, sign: ir.Value, margin: ir.Value) -> ir.Value:
    inside = _at_least(_shifted(_scaled(x, -1.0), _number(margin)), 0.0)
    return _plus(_where(_compared("ne", sign, 1.0), inside), _where(_compared("ne", sign, -1.0), x))


def _soft(x: ir.Value, sign: ir.Value) -> ir.Value:
    return _of("log1p", _of("exp", _scaled(_times(sign, x), -1.0)))


def _cosine(x: ir.Value, y: ir.Value, sign: ir.Value, margin: ir.Value) -> ir.Value:
    lengths = [_shifted(_row_sums(_times(one, one)), _SMALLEST_LENGTH) for one in (x, y)]
    cosine = apply(
        "aten.div.Tensor", [_row_sums(_times(x, y)), _of("sqrt", _times(*lengths))], _type(lengths[0])
    )
    apart = _at_least(_shifted(cosine, -_number(margin)), 0.0)
    together = _shifted(_scaled(cosine, -1.0), 1.0)
    return _plus(_where(_compared("eq", sign, 1.0), together), _where(_compared("eq", sign, -1.0), apart))


@dataclass(frozen=True)
class _Loss:
    """How many operands it has, how many of them are tensors, and whether it compares rows."""

    operands: int
    tensors: int
    written: Callable[..., ir.Value]
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
}
