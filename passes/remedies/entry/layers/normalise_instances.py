"""Instance normalisation as means, a root and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_CHANNELS = 1
"""The dimension that has its own weight, bias and statistics; those behind it are normalised over."""


@register_pass
@dataclass(frozen=True)
class NormaliseInstances(FrontEndRemedy):
    """Writes `aten.instance_norm` and `onnx.InstanceNormalization` as their front ends document them: with the mean and the variance of each channel, or with those that the model holds.

    IREE 3.13 lowers it with a weight and a bias only. With those it computes wrong numbers (FIS166) where the statistics of the model are
    to be used, since it takes those of the input, and where a size that it normalises over is not known. It computes in f32, as
    PyTorch does for 16-bit floats. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-normalise-instances"
    cures: ClassVar[tuple[str, ...]] = ("FIS421", "FIS166")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.instance_norm` and `onnx.InstanceNormalization` with means, a root and products (in the input)"
    )
    repairs: ClassVar[str] = (
        "FIS166: instance normalisation over unknown sizes, or by the statistics of the model; without a weight and a bias IREE rejects it"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as means, a root and products"
    advice: ClassVar[str] = "rewrite it as means, a root and products"

    def fits(self, op: ir.Operation) -> bool:
        norm = _read(op)
        if norm is None:
            return False
        value = torch.TensorType.of(norm.value)
        if value is None or len(value.shape) < 3 or value.element not in torch.FLOATS:
            return False
        tensors = [one for one in (*norm.scale, *norm.held) if one is not None]
        types = [torch.TensorType.of(one) for one in tensors]
        for one in types:
            if one is None or one.shape != (value.shape[_CHANNELS],) or one.element not in torch.FLOATS:
                return False
        held = [one is not None for one in norm.held]
        if not norm.own:
            return all(held)
        # In training the op also changes the statistics that the model holds.
        return not any(held) and not (norm.scaled and None not in value.shape[2:])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        norm = _read(op)
        type_ = torch.TensorType.of(norm.value) if norm else None
        assert norm is not None and type_ is not None
        rank, one = len(type_.shape), torch.integer(1)
        value, made = torch.converted(norm.value, "f32"), torch.TensorType(type_.shape, "f32")
        mean, variance = norm.held
        if norm.own or mean is None or variance is None:
            mean = _averaged(value, range(2, rank))
            centred = torch.apply("aten.sub.Tensor", [value, mean, one], made)
            variance = _averaged(torch.apply("aten.mul.Tensor", [centred, centred], made), range(2, rank))
        else:
            variance = _spread(variance, rank)
            centred = torch.apply("aten.sub.Tensor", [value, _spread(mean, rank), one], made)
        sizes = torch.TensorType.of(variance)
        assert sizes is not None
        above = torch.apply("aten.add.Scalar", [variance, torch.real(norm.eps), one], sizes)
        result = torch.apply("aten.mul.Tensor", [centred, torch.apply("aten.rsqrt", [above], sizes)], made)
        weight, bias = norm.scale
        if weight is not None:
            result = torch.apply("aten.mul.Tensor", [result, _spread(weight, rank)], made)
        if bias is not None:
            result = torch.apply("aten.add.Tensor", [result, _spread(bias, rank), one], made)
        return [torch.cast(torch.converted(result, type_.element), op.results[0].type)]


@dataclass(frozen=True)
class _Norm:
    """``scale``: weight and bias; ``held``: the mean and the variance of the model; ``own``: it takes those of the input."""

    value: ir.Value
    scale: tuple[ir.Value | None, ir.Value | None]
    held: tuple[ir.Value | None, ir.Value | None]
    own: bool
    eps: float

    @property
    def scaled(self) -> bool:
        return all(one is not None for one in self.scale)


def lowered(op: ir.Operation) -> bool:
    """Whether IREE has a lowering for ``op``, a norm of instances: with a weight and a bias."""
    norm = _read(op)
    return norm is not None and norm.scaled


def _read(op: ir.Operation) -> _Norm | None:
    name, given = torch.front_end_name(op), list(op.operands)
    if name == "onnx.InstanceNormalization" and len(given) == 3:
        eps = attribute(op, "torch.onnx.epsilon")
        return _Norm(given[0], (given[1], given[2]), (None, None), True, 1e-5 if eps is None else eps.value)
    if name != "aten.instance_norm" or len(given) != 9:
        return None
    weight, bias, mean, variance = (None if torch.is_none(one) else one for one in given[1:5])
    own, number = torch.boolean_of(given[5]), torch.number_of(given[7])
    if own is None or number is None:
        return None
    return _Norm(given[0], (weight, bias), (mean, variance), own, number)


def _averaged(value: ir.Value, dims: Sequence[int]) -> ir.Value:
    """The mean over ``dims``, which stay as dimensions of size 1."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    sizes = tuple(1 if dim in dims else size for dim, size in enumerate(type_.shape))
    over = [torch.integers(dims), torch.boolean(True), torch.none()]
    return torch.apply("aten.mean.dim", [value, *over], torch.TensorType(sizes, type_.element))


def _spread(value: ir.Value, rank: int) -> ir.Value:
    """One number of each channel as f32, with dimensions of size 1 behind it, so that it meets a tensor of ``rank`` dimensions."""
    value = torch.converted(value, "f32")
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    for dim in range(1, rank - _CHANNELS):
        type_ = torch.TensorType((*type_.shape, 1), type_.element)
        value = torch.apply("aten.unsqueeze", [value, torch.integer(dim)], type_)
    return value
