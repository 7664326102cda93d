"""Normalisations in training and their gradients, as means, products and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_BATCH, _LAYER = "aten.native_batch_norm_backward", "aten.native_layer_norm_backward"
_FROZEN = "aten.native_batch_norm"
_OPERANDS = {
    "aten._native_batch_norm_legit": 8, "aten._native_batch_norm_legit_functional": 8, "aten._native_batch_norm_legit.no_stats": 6,
    "aten._native_batch_norm_legit_no_training": 7, _BATCH: 10, _LAYER: 8, _FROZEN: 8,
}  # fmt: skip
_TENSORS = {_BATCH: (0, 1, 2, 3, 4, 5, 6), _LAYER: (0, 1, 3, 4, 5, 6)}
_CHANNELS = 1
"""The dimension that has its own weight, bias and statistics."""


@register_pass
@dataclass(frozen=True)
class DifferentiateNorms(FrontEndRemedy):
    """Writes `aten._native_batch_norm_legit*`, and the gradients of batch and layer normalisation, as torch defines them.

    The gradient by the operand is what is left of the incoming one, without its mean and without its share along the normalised operand.
    It computes in f32, as PyTorch does for 16-bit floats. IREE 3.13 has no lowering for them. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-differentiate-norms"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten._native_batch_norm_legit*`, `native_batch_norm_backward` and `native_layer_norm_backward` with means, products and "
        "sums (in the input)"
    )
    repairs: ClassVar[str] = "normalisations in training and their gradients, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as means, products and sums"
    advice: ClassVar[str] = "rewrite it as means, products and sums"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) != _OPERANDS.get(name):
            return False
        if name not in _TENSORS:
            return _Forward.of(op) is not None
        given = [one for at in _TENSORS[name] if not torch.is_none(one := op.operands[at])]
        types = [TensorType.of(one) for one in given]
        if len(op.results) != 3 or any(one is None or one.element not in torch.FLOATS for one in types):
            return False
        if any(TensorType.of(one) is None and not torch.is_none(one) for one in op.results):
            return False
        if name == _LAYER:
            inner = torch.integers_of(op.operands[2])
            return bool(inner) and not torch.is_none(op.operands[3])
        held = op.operands[5:7] if torch.boolean_of(op.operands[7]) else op.operands[3:5]
        known = torch.boolean_of(op.operands[7]) is not None and torch.number_of(op.operands[8]) is not None
        return known and not any(map(torch.is_none, held))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        forward = _Forward.of(op)
        if forward is not None:
            found: Sequence[Tensor] = forward.written()
        else:
            found = _layer_slopes(op) if name == _LAYER else _batch_slopes(op)
        return [
            torch.none() if torch.is_none(result) else value.as_result(result)
            for value, result in zip(found, op.results, strict=True)
        ]


@dataclass(frozen=True)
class _Forward:
    """A batch normalisation. ``means`` and ``variances``: those that the model holds."""

    x: ir.Value
    weight: ir.Value
    bias: ir.Value
    means: ir.Value | None
    variances: ir.Value | None
    training: bool
    momentum: float
    eps: float
    results: int

    @staticmethod
    def of(op: ir.Operation) -> _Forward | None:
        name, given = torch.front_end_name(op), list(op.operands)
        if name not in _OPERANDS or name in _TENSORS or len(given) != _OPERANDS[name]:
            return None
        if name.endswith("no_training"):
            given.insert(5, None)
        if name.endswith("no_stats"):
            given[3:3] = [None, None]
        x, weight, bias, means, variances, training, momentum, eps = given
        trained = False if training is None else torch.boolean_of(training)
        numbers = torch.number_of(momentum), torch.number_of(eps)
        results = 5 if name.endswith("functional") else 3
        tensors = [
            one for one in (x, weight, bias, means, variances) if one is not None and not torch.is_none(one)
        ]
        types = [TensorType.of(one) for one in tensors]
        if trained is None or None in numbers or len(op.results) != results:
            return None
        if any(one is None or one.element not in torch.FLOATS for one in types):
            return None
        if types[0] is None or len(types[0].shape) < 2 or types[0].shape[_CHANNELS] is None:
            return None
        if name == _FROZEN and (
            trained or not any(True for one in list(op.results)[1:] for _use in one.uses)
        ):
            return None  # IREE lowers it, unless a gradient takes its empty statistics
        if means is None and not trained or name.endswith("legit") and trained:
            return None  # it changes what the model holds
        return _Forward(
            x, weight, bias, means, variances, trained, numbers[0] or 0.0, numbers[1] or 0.0, results
        )

    def written(self) -> list[Tensor]:
        x = Tensor.wide(self.x)
        behind, over = x.rank - 1 - _CHANNELS, _all_but_channels(x)
        if self.training:
            mean = x.averaged(over)
            centred = x - mean
            variance = (centred * centred).averaged(over)
        else:
            assert self.means is not None and self.variances is not None
            mean, variance = (Tensor.wide(one).spread(behind) for one in (self.means, self.variances))
            centred = x - mean
        root = (variance + self.eps).of("rsqrt")
        y = centred * root
        if not torch.is_none(self.weight):
            y = y * Tensor.wide(self.weight).spread(behind)
        if not torch.is_none(self.bias):
            y = y + Tensor.wide(self.bias).spread(behind)
        if not self.training:
            nothing = Tensor(torch.table(np.zeros(0)))
            return [y, nothing, nothing]
        found = [y, _of_channels(mean), _of_channels(root)]
        if self.results == 3:
            return found
        assert self.means is not None and self.variances is not None
        # The variance that the model holds is that of a sample: one less than the elements.
        ones = Tensor(torch.literal("1.0", "f32"))
        channel = Tensor(torch.sliced(x.value, _CHANNELS, 0, 1 - (x.type_.shape[_CHANNELS] or 1)))
        sample = variance / (1.0 - ones.per(channel))
        for held, new in ((self.means, mean), (self.variances, sample)):
            found.append(Tensor.wide(held) * (1.0 - self.momentum) + _of_channels(new) * self.momentum)
        return found


def _batch_slopes(op: ir.Operation) -> Sequence[Tensor]:
    slope, x, weight, means, variances, mean, root, training, eps, _mask = op.operands
    slope, x = Tensor.wide(slope), Tensor.wide(x)
    behind, over = x.rank - 1 - _CHANNELS, _all_but_channels(x)
    trained = torch.boolean_of(training)
    if trained:
        middle, inverse = (Tensor.wide(one).spread(behind) for one in (mean, root))
    else:
        middle, variance = (Tensor.wide(one).spread(behind) for one in (means, variances))
        inverse = (variance + (torch.number_of(eps) or 0.0)).of("rsqrt")
    normal = (x - middle) * inverse
    along = slope * normal
    left = slope - slope.averaged(over) - normal * along.averaged(over) if trained else slope
    by_x = left * inverse
    if not torch.is_none(weight):
        by_x = by_x * Tensor.wide(weight).spread(behind)
    return [by_x, along.summed(over, keep=False), slope.summed(over, keep=False)]


def _layer_slopes(op: ir.Operation) -> Sequence[Tensor]:
    slope, x, inner, mean, root, weight, _bias, _mask = op.operands
    slope, x = Tensor.wide(slope), Tensor.wide(x)
    split = x.rank - len(torch.integers_of(inner) or [])
    outer, over = range(split), range(split, x.rank)
    middle, inverse = (_reaching(Tensor.wide(one), x.rank) for one in (mean, root))
    normal = (x - middle) * inverse
    scaled = slope if torch.is_none(weight) else slope * Tensor.wide(weight)
    left = scaled - scaled.averaged(over) - normal * (scaled * normal).averaged(over)
    return [left * inverse, (slope * normal).summed(outer, keep=False), slope.summed(outer, keep=False)]


def _reaching(value: Tensor, rank: int) -> Tensor:
    return value.spread(rank - value.rank)


def _all_but_channels(x: Tensor) -> list[int]:
    return [dim for dim in range(x.rank) if dim != _CHANNELS]


def _of_channels(value: Tensor) -> Tensor:
    """Without the dimensions of size 1 around the channels."""
    for dim in reversed(_all_but_channels(value)):
        value = value.dropped(dim)
    return value
