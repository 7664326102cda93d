"""Integers raised to the power of integers, by squaring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import as_boolean, broadcast_shape, type_of
from ..torch_ops import TensorType, apply

_POWERS = ("aten.pow.Scalar", "aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor")
_BITS = {"ui8": 8, "si8": 7, "si16": 15, "si32": 31, "si64": 63}
"""Element type -> how many bits an exponent has that is not negative."""
_WIDE = "si32"
"""Narrower ones are computed in it: IREE crashes on their arithmetic with numbers, and the lowest bits of a product are those of a wider one."""


@register_pass
@dataclass(frozen=True)
class RaiseBySquaring(FrontEndRemedy):
    """Writes powers of integers with integer exponents as products of the base squared again and again, one for each bit of the exponent.

    The products wrap around as PyTorch's do. A negative exponent gives 0, but 1 for a base of 1, and 1 or -1 for a base of -1. IREE 3.13 makes
    floats of some such operands and rejects the others. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-raise-by-squaring"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "writes `aten.pow` of integers by integers as products of squares (in the input)"
    repairs: ClassVar[str] = "`aten.pow` of integers by integers, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as products of squares"
    advice: ClassVar[str] = "write it as products of squares"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _POWERS or len(op.operands) != 2 or len(op.results) != 1:
            return False
        made = TensorType.of(op.results[0])
        if made is None or made.element not in _BITS:
            return False
        for value in op.operands:
            type_ = TensorType.of(value)
            # A number is of the element type of the tensor; the result of two tensors may be wider than one of them.
            if not (_is_narrow(value) if type_ is None else type_.element in _BITS):
                return False
        times = torch.integer_of(op.operands[1])
        return times is None or times >= 0

    def written(self, op: ir.Operation) -> list[ir.Value]:
        result = TensorType.of(op.results[0])
        assert result is not None
        wide = "si64" if result.element == "si64" else _WIDE
        base, exponent = op.operands
        times = torch.integer_of(exponent)
        base = _as_tensor(base, result.element, wide)
        if times is None:
            bits = _BITS[type_of(exponent).element]
            made = _raised(base, _as_tensor(exponent, result.element, wide), bits)
        else:
            made = _repeated(base, times)
        return [torch.cast(torch.converted(made, result.element), op.results[0].type)]


def _is_narrow(value: ir.Value) -> bool:
    """Whether it is a constant that 32 bits hold."""
    number = torch.integer_of(value)
    return number is not None and -(1 << 31) <= number < 1 << 31


def _as_tensor(value: ir.Value, element: str, wide: str) -> ir.Value:
    """``value`` as PyTorch reads it, of type ``element``, in the wider type in which it is computed."""
    number = torch.integer_of(value)
    if number is None:
        return torch.converted(torch.converted(value, element), wide)
    return torch.literal(str(number), wide)


def _repeated(base: ir.Value, times: int) -> ir.Value:
    """The power with an exponent that is known."""
    type_ = type_of(base)
    made = (
        apply("aten.full_like", [base, torch.integer(1), *[torch.none()] * 5], type_) if not times else None
    )
    while times:
        if times % 2:
            made = base if made is None else apply("aten.mul.Tensor", [made, base], type_)
        times //= 2
        if times:
            base = apply("aten.mul.Tensor", [base, base], type_)
    assert made is not None
    return made


def _raised(base: ir.Value, exponent: ir.Value, bits: int) -> ir.Value:
    of_base, of_exponent = type_of(base), type_of(exponent)
    type_ = TensorType(broadcast_shape([of_base.shape, of_exponent.shape]), of_base.element)
    one = torch.literal("1", of_base.element)
    power, made, left = base, None, exponent
    for bit in range(bits):
        chosen = _is_odd(left)
        factor = apply("aten.where.self", [chosen, power, one], type_)
        made = factor if made is None else apply("aten.mul.Tensor", [made, factor], type_)
        if bit + 1 < bits:
            power = apply("aten.mul.Tensor", [power, power], of_base)
            left = apply("aten.__rshift__.Scalar", [left, torch.integer(1)], of_exponent)
    assert made is not None
    below = apply("aten.lt.Scalar", [exponent, torch.integer(0)], as_boolean(of_exponent))
    return apply("aten.where.self", [below, _inverse(base, exponent, type_), made], type_)


def _inverse(base: ir.Value, exponent: ir.Value, type_: TensorType) -> ir.Value:
    """The power with a negative exponent, of which only those of 1 and -1 are integers."""
    of_base = type_of(base)
    one, minus, zero = (torch.literal(number, of_base.element) for number in ("1", "-1", "0"))
    sign = apply("aten.where.self", [_is_odd(exponent), minus, one], type_of(exponent))
    is_minus, is_one = (
        apply("aten.eq.Scalar", [base, torch.integer(number)], as_boolean(of_base)) for number in (-1, 1)
    )
    rest = apply("aten.where.self", [is_one, one, zero], of_base)
    return apply("aten.where.self", [is_minus, sign, rest], type_)


def _is_odd(value: ir.Value) -> ir.Value:
    type_ = type_of(value)
    last = apply("aten.bitwise_and.Tensor", [value, torch.literal("1", type_.element)], type_)
    return apply("aten.ne.Scalar", [last, torch.integer(0)], as_boolean(type_))
