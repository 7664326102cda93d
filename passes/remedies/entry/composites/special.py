"""Special functions in f32: approximations whose error is below 1e-6 of the value, or of 1 where the function is 0.

The polynomials are those of Abramowitz and Stegun (9.8.1 to 9.8.4), Stirling's series, Numerical Recipes (erfc) and Giles (the inverse of erf).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, nan, pi, sqrt

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..torch_ops import TensorType
from .composite import Composite, elementwise, is_nan

_SHIFT = 8
"""From there on the series for large numbers are exact in f32."""
_BORDER = 3.75
"""Between the two series of a modified Bessel function."""
_I0 = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_I0_LARGE = (
    0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377,
)  # fmt: skip
_I1 = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411)
_I1_LARGE = (
    0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059,
)  # fmt: skip
_ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
_ERFINV = (
    1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08,
)  # fmt: skip
_ERFINV_TAIL = (
    2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257,
)  # fmt: skip


def _series(x: Tensor, factors: Sequence[float]) -> Tensor:
    """A polynomial, by its factors from the constant on."""
    last, *others = reversed(factors)
    found = x * 0.0 + last
    for factor in others:
        found = found * x + factor
    return found


def _scaled_erfc(x: Tensor) -> Tensor:
    """exp(x**2) erfc(x) of a number that is not negative."""
    t = 1.0 / (x * 0.5 + 1.0)
    return t * _series(t, _ERFC).of("exp")


def _erfc(x: Tensor) -> Tensor:
    size = x.of("abs")
    right = _scaled_erfc(size) * (-(size * size)).of("exp")
    return x.is_("ge", 0.0).chosen(right, 2.0 - right)


def _erfcx(x: Tensor) -> Tensor:
    size = x.of("abs")
    right = _scaled_erfc(size)
    return x.is_("ge", 0.0).chosen(right, (size * size).of("exp") * 2.0 - right)


def _erfinv(x: Tensor) -> Tensor:
    w = -((1.0 - x) * (x + 1.0)).of("log")
    middle, tail = _series(w - 2.5, _ERFINV), _series(w.of("sqrt") - 3.0, _ERFINV_TAIL)
    found = w.is_("lt", 5.0).chosen(middle, tail) * x
    return x.of("abs").is_("eq", 1.0).chosen(x * inf, found)


def _normal(x: Tensor) -> Tensor:
    """The distribution function of the normal distribution."""
    return _erfc(x * (-1.0 / sqrt(2.0))) * 0.5


def _log_normal(x: Tensor) -> Tensor:
    left = (_erfcx(x * (-1.0 / sqrt(2.0))) * 0.5).of("log") - x * x * 0.5
    right = (_erfc(x * (1.0 / sqrt(2.0))) * -0.5).of("log1p")
    return x.is_("lt", -1.0).chosen(left, right)


def _bessel(x: Tensor, near: Sequence[float], far: Sequence[float], scaled: bool) -> Tensor:
    """exp(-abs(x)) I(x) if ``scaled``, and I(x) else, without the sign of an odd function."""
    size = x.of("abs")
    t = x * (1.0 / _BORDER)
    small, large = _series(t * t, near), _series(_BORDER / size, far) / size.of("sqrt")
    small, large = (small * (-size).of("exp"), large) if scaled else (small, large * size.of("exp"))
    return size.is_("lt", _BORDER).chosen(small, large)


def _i0(x: Tensor) -> Tensor:
    return _bessel(x, _I0, _I0_LARGE, False)


def _i0e(x: Tensor) -> Tensor:
    return _bessel(x, _I0, _I0_LARGE, True)


def _odd(x: Tensor, scaled: bool) -> Tensor:
    size = x.of("abs")
    found = _bessel(x, _I1, _I1_LARGE, scaled)
    near = size.is_("lt", _BORDER)
    return near.chosen(found * x, x.is_("lt", 0.0).chosen(-found, found))


def _i1(x: Tensor) -> Tensor:
    return _odd(x, False)


def _i1e(x: Tensor) -> Tensor:
    return _odd(x, True)


def _mirrored(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Whether x is left of a half, 1 - x there and x elsewhere, and how far x is from a whole number."""
    left = x.is_("lt", 0.5)
    return left, left.chosen(1.0 - x, x), x - x.of("round")


def _shifted(z: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Whether z is small, z moved behind where the series are exact, and the numbers that it passes."""
    small = z.is_("lt", float(_SHIFT))
    return small, small.chosen(z + float(_SHIFT), z), [z + float(step) for step in range(_SHIFT)]


def _sine(part: Tensor) -> Tensor:
    return (part * pi).of("sin")


def _lgamma(x: Tensor) -> Tensor:
    left, z, part = _mirrored(x)
    small, far, passed = _shifted(z)
    inverse = 1.0 / far
    square = inverse * inverse
    found = (far - 0.5) * (far.of("log") - 1.0) + (0.5 * log(2.0 * pi) - 0.5)
    found = found + inverse * _series(square, (1 / 12, -1 / 360, 1 / 1260))
    product = passed[0]
    for one in passed[1:]:
        product = product * one
    found = found - small.chosen(product.of("log"), 0.0)
    found = left.chosen(log(pi) - _sine(part).of("abs").of("log") - found, found)
    return x.of("abs").is_("eq", inf).chosen(x.of("abs"), found)


def _digamma(x: Tensor) -> Tensor:
    left, z, part = _mirrored(x)
    small, far, passed = _shifted(z)
    inverse = 1.0 / far
    square = inverse * inverse
    found = far.of("log") - inverse * 0.5 - square * _series(square, (1 / 12, -1 / 120, 1 / 252))
    terms = 1.0 / passed[0]
    for one in passed[1:]:
        terms = terms + 1.0 / one
    found = found - small.chosen(terms, 0.0)
    turned = (part * pi).of("cos") / _sine(part) * pi
    found = left.chosen(found - turned, found)
    poles = part.is_("eq", 0.0)
    found = x.is_("lt", 0.0).chosen(poles.chosen(nan, found), found)
    return x.is_("eq", 0.0).chosen(-1.0 / x, found)


def _trigamma(x: Tensor) -> Tensor:
    left, z, part = _mirrored(x)
    small, far, passed = _shifted(z)
    inverse = 1.0 / far
    square = inverse * inverse
    found = inverse + square * 0.5 + inverse * square * _series(square, (1 / 6, -1 / 30, 1 / 42))
    terms = 1.0 / (passed[0] * passed[0])
    for one in passed[1:]:
        terms = terms + 1.0 / (one * one)
    found = found + small.chosen(terms, 0.0)
    sine = _sine(part)
    return left.chosen((pi * pi) / (sine * sine) - found, found)


def _polygamma(op: ir.Operation) -> list[Tensor]:
    order, x = torch.integer_of(op.operands[0]), Tensor.wide(op.operands[1])
    return [_trigamma(x) if order else _digamma(x)]


def _multivariate(op: ir.Operation) -> list[Tensor]:
    x, p = Tensor.wide(op.operands[0]), torch.integer_of(op.operands[1]) or 1
    found = _lgamma(x) + p * (p - 1) / 4 * log(pi)
    for step in range(1, p):
        found = found + _lgamma(x - step / 2)
    return [found]


def _x_log1p_y(x: Tensor, y: Tensor) -> Tensor:
    found = x.is_("eq", 0.0).chosen(0.0, x * y.of("log1p"))
    return is_nan(y).chosen(nan, found)


def _has_order(op: ir.Operation) -> bool:
    return torch.integer_of(op.operands[0]) in (0, 1) and TensorType.of(op.operands[1]) is not None


def _has_few(op: ir.Operation) -> bool:
    return torch.integer_of(op.operands[1]) in range(1, 17)


SPECIAL = {
    "aten.erfc": elementwise(_erfc),
    "aten.erfinv": elementwise(_erfinv),
    "aten.lgamma": elementwise(_lgamma),
    "aten.digamma": elementwise(_digamma),
    "aten.i0": elementwise(_i0),
    "aten.mvlgamma": Composite(2, _multivariate, _has_few),
    "aten.polygamma": Composite(2, _polygamma, _has_order),
    "aten.special_polygamma": Composite(2, _polygamma, _has_order),
    "aten.special_digamma": elementwise(_digamma),
    "aten.special_psi": elementwise(_digamma),
    "aten.special_gammaln": elementwise(_lgamma),
    "aten.special_multigammaln": Composite(2, _multivariate, _has_few),
    "aten.special_erfc": elementwise(_erfc),
    "aten.special_erfcx": elementwise(_erfcx),
    "aten.special_erfinv": elementwise(_erfinv),
    "aten.special_i0": elementwise(_i0),
    "aten.special_i0e": elementwise(_i0e),
    "aten.special_i1": elementwise(_i1),
    "aten.special_i1e": elementwise(_i1e),
    "aten.special_ndtr": elementwise(_normal),
    "aten.special_log_ndtr": elementwise(_log_normal),
    "aten.special_xlog1py": elementwise(_x_log1p_y, 2),
}
"""Op -> what takes its place."""
