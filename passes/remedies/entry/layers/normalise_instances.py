"""Instance normalisation as means, a root and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_CODES = {"f16": 5, "f32": 6, "bf16": 15}
"""PyTorch's numbers of the element types (c10::ScalarType)."""
_CHANNELS = 1
"""The dimension that has its own weight, bias and statistics; those behind it are normalised over."""


@register_pass
@dataclass(frozen=True)
class NormaliseInstances(FrontEndRemedy):
    """Writes `aten.instance_norm` as torch.nn documents it: with the mean and the variance of each channel, or with those that the model holds.

    IREE 3.13 lowers it with a weight and a bias only. With those it still takes the statistics of the input where those of the model
    are to be used, and computes wrong numbers where a size that it normalises over is not known: such ops are replaced too. It
    computes in f32, as PyTorch does for 16-bit floats. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-normalise-instances"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.instance_norm` with means, a root and products (in the input)"
    repairs: ClassVar[str] = "instance normalisation without a weight and a bias, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as means, a root and products"
    advice: ClassVar[str] = "rewrite it as means, a root and products"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.instance_norm" or len(op.operands) != 9:
            return False
        given = list(op.operands)
        value, own = torch.TensorType.of(given[0]), torch.boolean_of(given[5])
        if value is None or len(value.shape) < 3 or value.element not in torch.FLOATS or own is None:
            return False
        tensors = [one for one in given[1:5] if not torch.is_none(one)]
        types = [found for one in tensors if (found := torch.TensorType.of(one)) is not None]
        fit = (one.shape == (value.shape[_CHANNELS],) and one.element in torch.FLOATS for one in types)
        if len(types) != len(tensors) or not all(fit) or torch.number_of(given[7]) is None:
            return False
        scaled = not (torch.is_none(given[1]) or torch.is_none(given[2]))
        held = [not torch.is_none(one) for one in given[3:5]]
        if not own:
            return all(held)
        # In training the op also changes the statistics that the model holds.
        return not any(held) and not (scaled and None not in value.shape[2:])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, weight, bias, mean, variance, own, _momentum, eps, _cudnn = op.operands
        type_ = torch.TensorType.of(value)
        assert type_ is not None
        rank, one = len(type_.shape), torch.integer(1)
        value, made = _converted(value, "f32"), torch.TensorType(type_.shape, "f32")
        if torch.boolean_of(own):
            mean = _averaged(value, range(2, rank))
            centred = torch.apply("aten.sub.Tensor", [value, mean, one], made)
            variance = _averaged(torch.apply("aten.mul.Tensor", [centred, centred], made), range(2, rank))
        else:
            variance = _spread(variance, rank)
            centred = torch.apply("aten.sub.Tensor", [value, _spread(mean, rank), one], made)
        sizes = torch.TensorType.of(variance)
        assert sizes is not None
        scale = torch.apply(
            "aten.rsqrt", [torch.apply("aten.add.Scalar", [variance, eps, one], sizes)], sizes
        )
        result = torch.apply("aten.mul.Tensor", [centred, scale], made)
        if not torch.is_none(weight):
            result = torch.apply("aten.mul.Tensor", [result, _spread(weight, rank)], made)
        if not torch.is_none(bias):
            result = torch.apply("aten.add.Tensor", [result, _spread(bias, rank), one], made)
        return [torch.cast(_converted(result, type_.element), op.results[0].type)]


def _averaged(value: ir.Value, dims: Sequence[int]) -> ir.Value:
    """The mean over ``dims``, which stay as dimensions of size 1."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    sizes = tuple(1 if dim in dims else size for dim, size in enumerate(type_.shape))
    over = [torch.integers(dims), torch.boolean(True), torch.none()]
    return torch.apply("aten.mean.dim", [value, *over], torch.TensorType(sizes, type_.element))


def _spread(value: ir.Value, rank: int) -> ir.Value:
    """One number of each channel as f32, with dimensions of size 1 behind it, so that it meets a tensor of ``rank`` dimensions."""
    value = _converted(value, "f32")
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    for dim in range(1, rank - _CHANNELS):
        type_ = torch.TensorType((*type_.shape, 1), type_.element)
        value = torch.apply("aten.unsqueeze", [value, torch.integer(dim)], type_)
    return value


def _converted(value: ir.Value, element: str) -> ir.Value:
    """``value`` with elements of another type of float."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    if type_.element == element:
        return value
    number, no = torch.integer(_CODES[element]), torch.boolean(False)
    made = torch.TensorType(type_.shape, element)
    return torch.apply("aten.to.dtype", [value, number, no, no, torch.none()], made)
