"""Computes powers of the magnitude, and gives them the sign of the base."""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from fissile.passes.analysis.scalars.negative_powers import base_and_exponent, powers_in
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

_ALL_EVEN = float(1 << 24)
"""From this magnitude on every f32 is an even integer."""


@register_pass
@dataclass(frozen=True)
class SignPowers(OpRemedy):
    """Replaces, in the bodies of linalg ops, a power whose base may be negative with the power of its magnitude.

    IREE 3.13 computes `math.powf` and `math.fpowi` as exp(exponent * log(base)), on all targets but AMD's, which is NaN for a negative
    base (FIS147).
    Here an odd exponent keeps the base's sign, one that is no integer gives NaN for a negative base, and 1 is the result for the
    exponent 0 and for the base 1, as C's pow defines it. Half precision is computed in f32 and rounded once. ``ops`` chooses source
    ops by index; without it, every op with such a power. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-sign-powers"
    order: ClassVar[int] = 41
    cures: ClassVar[tuple[str, ...]] = ("FIS147",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "computes powers of the magnitude and gives them the sign of the base"
    repairs: ClassVar[str] = "powers of negative numbers, which are NaN (not on AMD)"
    numbers: ClassVar[str] = (
        "f32: bit-identical for a positive base. f16, bf16: computed in f32, rounded once"
    )
    counterpart: ClassVar[str] = (
        "MLIR expands a power of constant exponent 2 or 3 into products, and every other one for a positive base only; "
        "no flag changes that."
    )
    done: ClassVar[str] = "computed powers in {ops} by magnitude and sign"
    advice: ClassVar[str] = "compute powers in {ops} by magnitude and sign"
    refusal: ClassVar[str] = "{op} has no power to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a power")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if powers_in(op) else Match("its body has none whose base may be negative")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for power in powers_in(op):
                with ir.InsertionPoint(power), power.location:
                    power.results[0].replace_all_uses_with(_signed_power(power))
                power.erase()


def _signed_power(power: ir.Operation) -> ir.Value:
    given, exponent = base_and_exponent(power)
    f32 = ir.F32Type.get()
    base = given if given.type == f32 else arith.extf(f32, given)
    if isinstance(exponent.type, ir.IntegerType):
        is_odd, is_whole = _lowest_bit(exponent), arith.constant(ir.IntegerType.get_signless(1), 1)
        exponent = arith.sitofp(f32, exponent)
    else:
        exponent = exponent if exponent.type == f32 else arith.extf(f32, exponent)
        is_odd, is_whole = _parity(exponent)
    zero, one = arith.constant(f32, 0.0), arith.constant(f32, 1.0)
    magnitude = math.absf(base)
    is_one = arith.ori(_compare("OEQ", magnitude, one), _compare("OEQ", exponent, zero))
    size = arith.select(is_one, one, math.powf(magnitude, exponent))
    signed = arith.select(is_odd, math.copysign(size, base), size)
    is_negative = _compare("OLT", base, zero)
    is_finite = _compare("ONE", magnitude, arith.constant(f32, numbers.inf))
    is_fraction = arith.xori(is_whole, arith.constant(is_whole.type, 1))
    is_no_number = arith.andi(arith.andi(is_negative, is_finite), is_fraction)
    result = arith.select(is_no_number, arith.constant(f32, numbers.nan), signed)
    return result if given.type == f32 else arith.truncf(given.type, result)


def _parity(exponent: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Whether the f32 ``exponent`` is an odd integer, and whether it is an integer; infinity is an even one."""
    flag, word = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(32)
    is_large = _compare("OGE", math.absf(exponent), arith.constant(exponent.type, _ALL_EVEN))
    small = arith.select(is_large, arith.constant(exponent.type, 0.0), exponent)
    integer = arith.fptosi(word, small)
    is_whole = _compare("OEQ", arith.sitofp(exponent.type, integer), small)
    is_odd = arith.select(is_whole, _lowest_bit(integer), arith.constant(flag, 0))
    return is_odd, is_whole


def _lowest_bit(integer: ir.Value) -> ir.Value:
    return arith.trunci(ir.IntegerType.get_signless(1), integer)


def _compare(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate[predicate], left, right)
