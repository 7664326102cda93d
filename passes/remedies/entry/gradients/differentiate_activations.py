"""Gradients of activations, as choices and products of each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, all_floats
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import axis_of

LEAKY, CLAMPED = "aten.leaky_relu_backward", "aten.hardtanh_backward"
_SHARE = 6.0
"""The width of the range in which a hard sigmoid rises; it begins at -3 and ends at 3."""


@register_pass
@dataclass(frozen=True)
class DifferentiateActivations(FrontEndRemedy):
    """Writes the gradients of leaky ReLUs, ReLU6, PReLU, swish, mish, hard swish, hard sigmoid, shrinkages, GLU and log sigmoid as choices and products of each element.

    What PyTorch computes at a border, at infinity and at NaN stays. IREE 3.13's lowering of `aten.leaky_relu_backward` compares the gradient
    with 0 where it has to compare the operand (FIS180), that of `aten.hardtanh_backward` passes the gradient at the two borders (FIS169), and there
    is none for the others. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-differentiate-activations"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS180", "FIS169")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces the gradients of leaky ReLUs, ReLU6, PReLU, swish, mish, hard swish, hard sigmoid, shrinkages, GLU and log sigmoid with choices and products (in the input)"
    )
    repairs: ClassVar[str] = (
        "the gradients of a leaky ReLU and, at its borders, of ReLU6, which IREE computes wrongly on every target (FIS180, FIS169), and others that it "
        "rejects (FIS421)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as choices and products"
    advice: ClassVar[str] = "rewrite it as choices and products"

    def fits(self, op: ir.Operation) -> bool:
        found = _ACTIVATIONS.get(torch.front_end_name(op))
        if found is None or (len(op.operands), len(op.results)) != (found.operands, found.results):
            return False
        types = all_floats(op.operands[: found.tensors])
        if types is None or any(torch.TensorType.of(one) is None for one in op.results):
            return False
        return found.fits(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        found = _ACTIVATIONS[torch.front_end_name(op)]
        values = found.written(
            *(Tensor.wide(one) for one in op.operands[: found.tensors]), *op.operands[found.tensors :]
        )
        return [value.as_result(result) for value, result in zip(values, op.results, strict=True)]


def _leaky(slope: Tensor, x: Tensor, factor: ir.Value, _of_result: ir.Value) -> Sequence[Tensor]:
    number = torch.number_of(factor)
    assert number is not None
    return [x.is_("gt", 0.0).chosen(slope, slope * number)]


def _clamped(slope: Tensor, x: Tensor, least: ir.Value, most: ir.Value) -> Sequence[Tensor]:
    low, high = torch.number_of(least), torch.number_of(most)
    assert low is not None and high is not None
    return [x.is_("gt", low).chosen(x.is_("lt", high).chosen(slope, 0.0), 0.0)]


def _parametric(x: Tensor, weight: Tensor) -> Sequence[Tensor]:
    return [x.is_("gt", 0.0).chosen(x, x * weight)]


def _parametric_slopes(slope: Tensor, x: Tensor, weight: Tensor) -> Sequence[Tensor]:
    positive = x.is_("gt", 0.0)
    return [positive.chosen(slope, slope * weight), positive.chosen(0.0, slope * x)]


def _hard_swish(slope: Tensor, x: Tensor) -> Sequence[Tensor]:
    inside = x.is_("lt", _SHARE / 2).chosen(slope * (x * (2 / _SHARE) + 0.5), slope)
    return [x.is_("le", -_SHARE / 2).chosen(0.0, inside)]


def _hard_sigmoid(slope: Tensor, x: Tensor) -> Sequence[Tensor]:
    below = x.is_("lt", _SHARE / 2).chosen(slope * (1 / _SHARE), 0.0)
    return [x.is_("gt", -_SHARE / 2).chosen(below, 0.0)]


def _shrunk(slope: Tensor, x: Tensor, bound: ir.Value) -> Sequence[Tensor]:
    number = torch.number_of(bound)
    assert number is not None
    inside = x.is_("lt", -number).chosen(slope, 0.0)
    return [x.is_("gt", number).chosen(slope, inside)]


def _swish(slope: Tensor, x: Tensor) -> Sequence[Tensor]:
    gate = x.of("sigmoid")
    return [slope * gate * (x * (1.0 - gate) + 1.0)]


def _mish(slope: Tensor, x: Tensor) -> Sequence[Tensor]:
    gate, rising = x.of("sigmoid"), x.softplus().of("tanh")
    return [slope * (rising + x * gate * (1.0 - rising * rising))]


def _gated(slope: Tensor, x: Tensor, dim: ir.Value) -> Sequence[Tensor]:
    axis = axis_of(dim, x.rank)
    assert axis is not None
    value, gate = x.halves(axis)
    gate = gate.of("sigmoid")
    first = slope * gate
    return [Tensor(torch.concatenated([first.value, (first * (1.0 - gate) * value).value], axis))]


def _log_sigmoid(x: Tensor) -> Sequence[Tensor]:
    buffer = (-x.of("abs")).of("exp")
    # A NaN has to stay, so it is no minimum.
    return [x.is_("ge", 0.0).chosen(x.zeros(), x) - buffer.of("log1p"), buffer]


def _log_sigmoid_slopes(slope: Tensor, x: Tensor, _buffer: Tensor) -> Sequence[Tensor]:
    return [slope * (-x).of("sigmoid")]


def _hyperbolic(slope: Tensor, y: Tensor) -> Sequence[Tensor]:
    return [slope * (1.0 - y * y)]


def _log_softmax(slope: Tensor, y: Tensor, dim: ir.Value, _dtype: ir.Value) -> Sequence[Tensor]:
    axis = axis_of(dim, slope.rank)
    assert axis is not None
    return [slope - y.of("exp") * slope.summed([axis])]


def _always(_op: ir.Operation) -> bool:
    return True


def _broadcasts(op: ir.Operation) -> bool:
    """Whether it has operands of several shapes, as `torch.func.jacrev` writes it; IREE lowers it for one shape."""
    first, second = (torch.TensorType.of(one) for one in op.operands[:2])
    assert first is not None and second is not None
    axis_known = len(op.operands) == 2 or axis_of(op.operands[2], len(first.shape)) is not None
    return axis_known and first.shape != second.shape and len(first.shape) >= len(second.shape)


def _known_factor(op: ir.Operation) -> bool:
    return torch.number_of(op.operands[2]) is not None


def _known_borders(op: ir.Operation) -> bool:
    return all(torch.number_of(one) is not None for one in op.operands[2:4])


def _known_halves(op: ir.Operation) -> bool:
    types = [torch.TensorType.of(one) for one in (op.operands[0], op.operands[1])]
    assert types[0] is not None and types[1] is not None
    axis = axis_of(op.operands[2], len(types[1].shape))
    return axis is not None and types[1].shape[axis] is not None


@dataclass(frozen=True)
class _Activation:
    """How many operands it has, how many of them are tensors, and how many results."""

    operands: int
    tensors: int
    results: int
    written: Callable[..., Sequence[Tensor]]
    fits: Callable[[ir.Operation], bool] = _always


_ACTIVATIONS = {
    LEAKY: _Activation(4, 2, 1, _leaky, _known_factor),
    CLAMPED: _Activation(4, 2, 1, _clamped, _known_borders),
    "aten._prelu_kernel": _Activation(2, 2, 1, _parametric),
    "aten._prelu_kernel_backward": _Activation(3, 3, 2, _parametric_slopes),
    "aten.hardswish_backward": _Activation(2, 2, 1, _hard_swish),
    "aten.hardsigmoid_backward": _Activation(2, 2, 1, _hard_sigmoid),
    "aten.hardshrink_backward": _Activation(3, 2, 1, _shrunk, _known_factor),
    "aten.softshrink_backward": _Activation(3, 2, 1, _shrunk, _known_factor),
    "aten.tanh_backward": _Activation(2, 2, 1, _hyperbolic, _broadcasts),
    "aten._log_softmax_backward_data": _Activation(4, 2, 1, _log_softmax, _broadcasts),
    "aten.silu_backward": _Activation(2, 2, 1, _swish),
    "aten.mish_backward": _Activation(2, 2, 1, _mish),
    "aten.glu_backward": _Activation(3, 2, 1, _gated, _known_halves),
    "aten.log_sigmoid_forward": _Activation(1, 1, 2, _log_sigmoid),
    "aten.log_sigmoid_backward": _Activation(3, 3, 1, _log_sigmoid_slopes),
}
