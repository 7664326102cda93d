"""Integers raised to the power of a float."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.onnx_values import floats_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import as_boolean, broadcast_shape, type_of
from ..torch_ops import TensorType, apply

_INTEGERS = ("si64", "si32")
_MOST = 62
"""The largest exponent that is written as products: 2 to the power of more is no integer of 64 bits."""
_NEAR = 2e-6
"""How far a power may be from an integer, relative to it, and still be that integer: the power is computed in 32 bits."""


@register_pass
@dataclass(frozen=True)
class RaiseIntegers(FrontEndRemedy):
    """Writes an `onnx.Pow` of integers with a float as exponent as products of the integers, or as a power of floats.

    The result is an integer again. A constant exponent that is an integer becomes products, which are exact. IREE 3.13 rejects such an op
    with one constant exponent; with others, powers of negative integers are wrong, and some powers are an integer too small (FIS162). Run
    it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-raise-integers"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "writes an `onnx.Pow` of integers with a float as exponent as products, or as a power of floats (in the input)"
    )
    repairs: ClassVar[str] = (
        "integers raised to the power of a float, which IREE rejects (FIS421), or computes without the sign of a negative one (FIS162)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "wrote it as products, or as a power of floats"
    advice: ClassVar[str] = "write it as products, or as a power of floats"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.Pow" or len(op.operands) != 2 or len(op.results) != 1:
            return False
        base, exponent = (TensorType.of(value) for value in op.operands)
        if base is None or exponent is None or base.element not in _INTEGERS:
            return False
        made = TensorType.of(op.results[0])
        return exponent.element in torch.FLOATS and made is not None and made.element == base.element

    def written(self, op: ir.Operation) -> list[ir.Value]:
        base, exponent = op.operands
        times = _constant(exponent)
        made = _power(base, exponent) if times is None else _product(base, times)
        return [torch.cast(made, op.results[0].type)]


def is_lowered(op: ir.Operation) -> bool:
    """Whether IREE compiles an op that fits, and does not reject it."""
    return bool(type_of(op.operands[1]).shape) or floats_of(op.operands[1]) is None


def _constant(exponent: ir.Value) -> int | None:
    """The exponent, where it is one constant that is a small integer."""
    numbers = floats_of(exponent)
    if type_of(exponent).shape or numbers is None or not 0 < numbers[0] <= _MOST:
        return None
    return int(numbers[0]) if numbers[0].is_integer() else None


def _product(base: ir.Value, times: int) -> ir.Value:
    type_, made = type_of(base), None
    while True:
        if times % 2:
            made = base if made is None else apply("aten.mul.Tensor", [made, base], type_)
        times //= 2
        if not times:
            assert made is not None
            return made
        base = apply("aten.mul.Tensor", [base, base], type_)


def _power(base: ir.Value, exponent: ir.Value) -> ir.Value:
    """The power of the absolute values; the result of a negative base and an odd exponent is negative."""
    type_ = TensorType(broadcast_shape([type_of(base).shape, type_of(exponent).shape]), "f32")
    bits, one = as_boolean(type_), torch.integer(1)
    wide, exponent = torch.converted(base, "f32"), torch.converted(exponent, "f32")
    power = apply("aten.pow.Tensor_Tensor", [apply("aten.abs", [wide], type_of(wide)), exponent], type_)
    nearest = apply("aten.round", [power], type_)
    away = apply("aten.abs", [apply("aten.sub.Tensor", [power, nearest, one], type_)], type_)
    bound = apply("aten.mul.Scalar", [nearest, torch.real(_NEAR)], type_)
    near = apply("aten.le.Tensor", [away, bound], bits)
    whole = apply("aten.where.self", [near, nearest, apply("aten.trunc", [power], type_)], type_)
    rest = apply("aten.remainder.Scalar", [exponent, torch.real(2.0)], type_of(exponent))
    odd = apply("aten.eq.Scalar", [rest, torch.real(1.0)], as_boolean(type_of(exponent)))
    negative = apply("aten.lt.Scalar", [wide, torch.real(0.0)], as_boolean(type_of(wide)))
    both = apply("aten.logical_and", [negative, odd], bits)
    signed = apply("aten.where.self", [both, apply("aten.neg", [whole], type_), whole], type_)
    return torch.converted(signed, type_of(base).element)
