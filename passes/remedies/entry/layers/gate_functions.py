"""The functions that the gates of ONNX's recurrent layers may apply, as its operator documentation lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from iree.compiler import ir

from .. import torch_ops as torch
from ..torch_ops import TensorType


@dataclass(frozen=True)
class GateFunction:
    """``of`` builds the function of a value, with its parameters."""

    of: Callable[[ir.Value, float, float], ir.Value]
    alpha: float | None = None
    """The default of alpha; None where the function has no such parameter."""
    beta: float | None = None


def gate_functions(
    names: Sequence[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[Callable[[ir.Value], ir.Value]] | None:
    """The functions called ``names``; each one that has a parameter takes the next value of the list. None where a name is unknown."""
    next_alpha, next_beta = iter(alphas), iter(betas)
    found: list[Callable[[ir.Value], ir.Value]] = []
    for name in names:
        function = _FUNCTIONS.get(name.lower())
        if function is None:
            return None
        alpha = 0.0 if function.alpha is None else next(next_alpha, function.alpha)
        beta = 0.0 if function.beta is None else next(next_beta, function.beta)
        found.append(partial(_applied, function.of, alpha, beta))
    return found


def _applied(
    of: Callable[[ir.Value, float, float], ir.Value], alpha: float, beta: float, value: ir.Value
) -> ir.Value:
    return of(value, alpha, beta)


def clamped(value: ir.Value, low: float, high: float) -> ir.Value:
    return _apply("clamp", value, torch.real(low), torch.real(high))


def _apply(name: str, value: ir.Value, *parameters: ir.Value) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    return torch.apply(f"aten.{name}", [value, *parameters], type_)


def _linear(value: ir.Value, factor: float, summand: float) -> ir.Value:
    scaled = _apply("mul.Scalar", value, torch.real(factor))
    return _apply("add.Scalar", scaled, torch.real(summand), torch.integer(1))


def _scaled_tanh(value: ir.Value, alpha: float, beta: float) -> ir.Value:
    inner = _apply("tanh", _apply("mul.Scalar", value, torch.real(beta)))
    return _apply("mul.Scalar", inner, torch.real(alpha))


def _thresholded(value: ir.Value, alpha: float, _beta: float) -> ir.Value:
    return _apply("threshold", value, torch.real(alpha), torch.real(0.0))


def _softsign(value: ir.Value, _alpha: float, _beta: float) -> ir.Value:
    below = _apply("add.Scalar", _apply("abs", value), torch.real(1.0), torch.integer(1))
    return _apply("div.Tensor", value, below)


def _elu(value: ir.Value, alpha: float, _beta: float) -> ir.Value:
    return _apply("elu", value, torch.real(alpha), torch.real(1.0), torch.real(1.0))


def _softplus(value: ir.Value, _alpha: float, _beta: float) -> ir.Value:
    return _apply("softplus", value, torch.real(1.0), torch.real(20.0))


_FUNCTIONS = {
    "affine": GateFunction(_linear, 1.0, 0.0),
    "elu": GateFunction(_elu, 1.0),
    "hardsigmoid": GateFunction(
        lambda value, alpha, beta: clamped(_linear(value, alpha, beta), 0.0, 1.0), 0.2, 0.5
    ),
    "leakyrelu": GateFunction(
        lambda value, alpha, _beta: _apply("leaky_relu", value, torch.real(alpha)), 0.01
    ),
    "relu": GateFunction(lambda value, _alpha, _beta: _apply("relu", value)),
    "scaledtanh": GateFunction(_scaled_tanh, 1.0, 1.0),
    "sigmoid": GateFunction(lambda value, _alpha, _beta: _apply("sigmoid", value)),
    "softplus": GateFunction(_softplus),
    "softsign": GateFunction(_softsign),
    "tanh": GateFunction(lambda value, _alpha, _beta: _apply("tanh", value)),
    "thresholdedrelu": GateFunction(_thresholded, 1.0),
}
