"""Activations and losses that IREE computes by another formula than PyTorch, or by one that overflows."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor
from ..front_end import FrontEndRemedy
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply

_BINARY = "aten.binary_cross_entropy_with_logits"
_DIVERGENCE = "aten.kl_div"
_RENORM = "aten.renorm"
_PRELU = "aten.prelu"
_GELU, _GELU_BACKWARD, _ONNX_GELU = "aten.gelu", "aten.gelu_backward", "onnx.Gelu"
_DEGREES = "aten.rad2deg"
_OPERANDS = {
    "aten.log_sigmoid": 1,
    "aten.softshrink": 2,
    _PRELU: 2,
    _BINARY: 5,
    _RENORM: 4,
    _DIVERGENCE: 4,
    _GELU: 2,
    _GELU_BACKWARD: 3,
    _ONNX_GELU: 1,
    _DEGREES: 1,
}
"""Op -> how many operands it has."""
_SLOPE, _CUBE = sqrt(2 / pi), 0.044715
"""Of GELU's approximation, 0.5 x (1 + tanh(slope (x + cube x^3))). IREE 3.13 has 0.797724, of pi = 22 / 7, for the slope."""


def _log_sigmoid(x: Tensor) -> Tensor:
    return -(-x).softplus()


def _softshrink(x: Tensor, width: float) -> Tensor:
    inside = x * 0.0  # a NaN stays one
    return x.is_("gt", width).chosen(x - width, x.is_("lt", -width).chosen(x + width, inside))


def _of_channels(x: TensorType, weight: TensorType | None) -> bool:
    """Whether ``weight`` has a number for each channel (dimension 1) that does not stand at the end of ``x``, or ``x`` has no dimensions to broadcast it to."""
    if weight is None or len(weight.shape) != 1 or weight.element != x.element:
        return False
    if not x.shape:
        return weight.shape == (1,)
    [count] = weight.shape
    return len(x.shape) > 2 and count != 1 and (count == x.shape[1] or None in (count, x.shape[1]))


def _prelu(x: Tensor, weight: Tensor) -> Tensor:
    slopes = weight.spread(x.rank - 2) if x.rank else weight.dropped(0)
    return x.is_("gt", 0.0).chosen(x, x * slopes)


def _approximates(op: ir.Operation) -> bool:
    """Whether a GELU is the one by tanh."""
    if torch.front_end_name(op) == _ONNX_GELU:
        return text_of(op, "torch.onnx.approximate") == "tanh"
    return torch.string_of(op.operands[len(op.operands) - 1]) == "tanh"


def _gelu(x: Tensor) -> Tensor:
    return x * 0.5 * (_bend(x).of("tanh") + 1.0)


def _bend(x: Tensor) -> Tensor:
    return (x + x * x * x * _CUBE) * _SLOPE


def _gelu_gradient(gradient: Tensor, x: Tensor) -> Tensor:
    bent = _bend(x).of("tanh")
    rise = (x * x * (3 * _CUBE) + 1.0) * _SLOPE
    return gradient * ((bent + 1.0) * 0.5 + x * 0.5 * (1.0 - bent * bent) * rise)


def _binary(x: Tensor, target: Tensor, weight: Tensor | None, positive: Tensor | None) -> Tensor:
    least = (-x).softplus()
    if positive is not None:
        least = least * (target * (positive - 1.0) + 1.0)
    loss = x * (1.0 - target) + least
    return loss if weight is None else loss * weight


def _divergence(x: Tensor, target: Tensor, logarithmic: bool) -> Tensor:
    if logarithmic:
        return target.of("exp") * (target - x)
    entropy = target.is_("eq", 0.0).chosen(target, target * target.of("log"))
    return entropy - target * x


def _differs(op: ir.Operation, elements: set[str]) -> bool:
    """Whether IREE's divergence is another: that of logarithms only where it adds in 16 bits."""
    logarithmic = torch.boolean_of(op.operands[3])
    return logarithmic is False or (logarithmic is True and elements != {"f32"})


@register_pass
@dataclass(frozen=True)
class WriteFormulas(FrontEndRemedy):
    """Writes `log_sigmoid`, `softshrink`, `prelu`, GELU by tanh, `binary_cross_entropy_with_logits`, `kl_div`, `renorm` and `rad2deg` as PyTorch
    computes them.

    IREE 3.13's import takes the logarithm of a sigmoid that is 0 below -88, moves numbers away from 0 in a negative soft threshold, takes the
    weights of a PReLU to be those of the last dimension, multiplies 0 with the logarithm of 0 in a divergence, takes other norms in a `renorm`
    along a dimension that counts from the end, and computes GELU and degrees with few digits of pi (FIS222). Floats are computed in f32, as PyTorch computes 16-bit ones. Sizes may be dynamic. Run it
    on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-formulas"
    cures: ClassVar[tuple[str, ...]] = ("FIS222",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.log_sigmoid`, `softshrink`, `prelu`, GELU by tanh, `binary_cross_entropy_with_logits`, `kl_div`, `renorm` and `rad2deg` with "
        "PyTorch's formulas (in the input)"
    )
    repairs: ClassVar[str] = (
        "these activations and losses, which IREE computes by other formulas: wrong numbers on every target (FIS222)"
    )
    numbers: ClassVar[str] = "those of PyTorch's formula"
    done: ClassVar[str] = "wrote PyTorch's formula"
    advice: ClassVar[str] = "write the formula out (`-softplus(-x)` for a log_sigmoid)"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) != _OPERANDS.get(name, -1) or len(op.results) != 1:
            return False
        types = [TensorType.of(one) for one in (*op.operands, op.results[0])]
        floats = {type_.element for type_ in types if type_ is not None}
        if types[0] is None or types[-1] is None or not floats <= torch.FLOATS.keys():
            return False
        if name in (_BINARY, _DIVERGENCE):
            reduction = torch.integer_of(op.operands[4 if name == _BINARY else 2])
            return reduction in (NONE, MEAN, SUM) and (name == _BINARY or _differs(op, floats))
        if name in (_GELU, _GELU_BACKWARD, _ONNX_GELU):
            return _approximates(op)
        if name == _PRELU:
            return _of_channels(types[0], types[1])
        if name == _RENORM:
            return torch.integer_of(op.operands[2]) in range(-len(types[0].shape), 0)
        return name != "aten.softshrink" or torch.number_of(op.operands[1]) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, given = torch.front_end_name(op), list(op.operands)
        if name == _RENORM:
            dim = (torch.integer_of(given[2]) or 0) % len(type_of(given[0]).shape)
            return [apply(name, [*given[:2], torch.integer(dim), given[3]], type_of(op.results[0]))]
        [x, *more] = [None if TensorType.of(one) is None else Tensor.wide(one) for one in given]
        assert x is not None  # `fits`
        if name == "aten.log_sigmoid":
            return [_log_sigmoid(x).as_result(op.results[0])]
        if name == "aten.softshrink":
            return [_softshrink(x, torch.number_of(given[1]) or 0.0).as_result(op.results[0])]
        if name in (_GELU, _ONNX_GELU):
            return [_gelu(x).as_result(op.results[0])]
        if name == _DEGREES:
            return [(x * (180 / pi)).as_result(op.results[0])]
        target = more[0]
        assert target is not None
        if name == _GELU_BACKWARD:
            return [_gelu_gradient(x, target).as_result(op.results[0])]
        if name == _PRELU:
            return [_prelu(x, target).as_result(op.results[0])]
        if name == _BINARY:
            loss, reduction = _binary(x, target, more[1], more[2]), given[4]
        else:
            loss, reduction = _divergence(x, target, bool(torch.boolean_of(given[3]))), given[2]
        how = torch.integer_of(reduction)
        reduced = loss if how == NONE else loss.summed(range(loss.rank), keep=False)
        return [(reduced.per(loss) if how == MEAN else reduced).as_result(op.results[0])]
