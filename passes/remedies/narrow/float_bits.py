"""How is a float of 8 or 16 bits turned into its bits and back where the target computes in 32 bits only?

Everything is done in i32 and f32 arithmetic that is exact, so no rounding mode and no flushing of subnormals
changes a bit: conversions round to nearest, ties to even, as arith.truncf does; beyond the largest value comes
infinity, or NaN where the type has none.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import arith

FRACTION = 23
"""Bits of an f32's fraction."""
BIAS = 127
INFINITY, NAN = 0x7F800000, 0x7FC00000


@dataclass(frozen=True)
class _Format:
    """A sign, then ``exponent`` and ``fraction`` bits; the exponent counts from ``bias``.

    ``infinite``: the largest exponent means infinity and NaN, as in IEEE 754. Else NaN is the code of all ones
    (`FN`), or, where ``one_zero``, that of a zero with its sign set (`FNUZ`).
    """

    exponent: int
    fraction: int
    bias: int
    infinite: bool = False
    one_zero: bool = False
    finite: bool = False

    @property
    def sign(self) -> int:
        """The sign's bit, as a mask; the codes below it are the magnitudes."""
        return 1 << (self.exponent + self.fraction)

    @property
    def dropped(self) -> int:
        """Fraction bits that an f32 has more."""
        return FRACTION - self.fraction

    @property
    def largest_code(self) -> int:
        """The last magnitude that rounding may carry into: infinity, or the last number before NaN."""
        if self.infinite:
            return ((1 << self.exponent) - 1) << self.fraction
        return self.sign - 1 if self.one_zero or self.finite else self.sign - 2

    @property
    def smallest_normal(self) -> int:
        """As the bits of an f32."""
        return (BIAS + 1 - self.bias) << FRACTION


_FORMATS = {
    "f16": _Format(5, 10, 15, infinite=True),
    "f8E5M2": _Format(5, 2, 15, infinite=True),
    "f8E3M4": _Format(3, 4, 3, infinite=True),
    "f8E4M3FN": _Format(4, 3, 7),
    "f8E4M3FNUZ": _Format(4, 3, 8, one_zero=True),
    "f8E5M2FNUZ": _Format(5, 2, 16, one_zero=True),
    "f6E2M3FN": _Format(2, 3, 1, finite=True),
    "f6E3M2FN": _Format(3, 2, 3, finite=True),
    "f4E2M1FN": _Format(2, 1, 1, finite=True),
}
"""The small floats as MLIR defines them (BuiltinTypes.td); bf16 is the upper half of an f32."""


def has_form(name: str) -> bool:
    """Whether ``name`` is a float of 4 to 8 bits, or f16, that is known here."""
    return name in _FORMATS


def i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def f32() -> ir.Type:
    return ir.F32Type.get()


def word(value: int) -> ir.Value:
    """An i32 constant with the bits of ``value`` (0 to 2**32 - 1, or negative)."""
    value &= 0xFFFFFFFF
    return arith.constant(i32(), value - (1 << 32) if value >= 1 << 31 else value)


def bits_of_float(name: str, value: ir.Value) -> ir.Value:
    """The bits (in an i32, the others 0) of the f32 ``value`` rounded to the type ``name``, one of `f16`, `bf16`, `f8…`."""
    bits = arith.bitcast(i32(), value)
    if name == "bf16":
        return _bits_of_bf16(bits)
    if name == "f8E8M0FNU":
        return _exponent(bits)
    form = _FORMATS[name]
    sign = arith.andi(arith.shrui(bits, word(31 - form.exponent - form.fraction)), word(form.sign))
    magnitude = arith.andi(bits, word(0x7FFFFFFF))
    code = arith.select(
        _below(magnitude, word(form.smallest_normal)), _subnormal(form, magnitude), _normal(form, magnitude)
    )
    # What rounding carries over the largest value is infinity itself where there is one.
    beyond = _above(code, word(form.largest_code))
    if form.one_zero:
        signed = arith.select(_equal(code, word(0)), code, arith.ori(code, sign))
        return arith.select(beyond, word(form.sign), signed)
    if form.infinite:
        quiet = form.largest_code | 1 << (form.fraction - 1)
        special = arith.select(_above(magnitude, word(INFINITY)), word(quiet), word(form.largest_code))
    else:
        special = word(form.sign - 1)
    return arith.ori(arith.select(beyond, special, code), sign)


def float_of_bits(name: str, bits: ir.Value) -> ir.Value:
    """The f32 value of the type ``name`` whose bits are the lowest of the i32 ``bits``; the others are ignored."""
    if name == "bf16":
        return arith.bitcast(f32(), arith.shli(bits, word(16)))
    if name == "f8E8M0FNU":
        return _power_of_two(bits)
    form = _FORMATS[name]
    sign = arith.shli(arith.andi(bits, word(form.sign)), word(31 - form.exponent - form.fraction))
    magnitude = arith.andi(bits, word(form.sign - 1))
    chosen = arith.addi(arith.shli(magnitude, word(form.dropped)), word((BIAS - form.bias) << FRACTION))
    if form.infinite:  # infinity and NaN: up to an f32's largest exponent
        special = arith.addi(chosen, word((BIAS + 2 + form.bias - (1 << form.exponent)) << FRACTION))
        chosen = arith.select(_above(magnitude, word(form.largest_code - 1)), special, chosen)
    elif not form.one_zero and not form.finite:
        chosen = arith.select(_above(magnitude, word(form.largest_code)), word(NAN), chosen)
    # Subnormal numbers and zero: a whole number of the smallest, which f32 holds as a normal number.
    step = arith.constant(f32(), 2.0 ** (1 - form.bias - form.fraction))
    small = arith.bitcast(i32(), arith.mulf(arith.sitofp(f32(), magnitude), step))
    chosen = arith.ori(arith.select(_below(magnitude, word(1 << form.fraction)), small, chosen), sign)
    if form.one_zero:
        is_nan = _equal(arith.andi(bits, word(2 * form.sign - 1)), word(form.sign))
        chosen = arith.select(is_nan, word(NAN), chosen)
    return arith.bitcast(f32(), chosen)


def rounded(name: str, value: ir.Value) -> ir.Value:
    """The f32 ``value`` rounded to a value of the type ``name``, still an f32."""
    return float_of_bits(name, bits_of_float(name, value))


def _normal(form: _Format, magnitude: ir.Value) -> ir.Value:
    """The code of a normal result. Ties go to even by adding half a unit less one, and one more where the last bit is set."""
    odd = arith.andi(arith.shrui(magnitude, word(form.dropped)), word(1))
    half_less_one = (1 << (form.dropped - 1)) - 1
    moved = arith.addi(magnitude, word(-((BIAS - form.bias) << FRACTION) + half_less_one))
    return arith.shrui(arith.addi(moved, odd), word(form.dropped))


def _subnormal(form: _Format, magnitude: ir.Value) -> ir.Value:
    """The code of a subnormal result: the significand is shifted by as much as the exponent is too small, at most 25 bits."""
    exponent = arith.shrui(magnitude, word(FRACTION))
    significand = arith.ori(arith.andi(magnitude, word((1 << FRACTION) - 1)), word(1 << FRACTION))
    wanted = arith.subi(word(BIAS + 1 + FRACTION - form.bias - form.fraction), exponent)
    shift = arith.maxsi(arith.minsi(wanted, word(25)), word(1))
    kept = arith.shrui(significand, shift)
    half_less_one = arith.subi(arith.shli(word(1), arith.subi(shift, word(1))), word(1))
    return arith.shrui(arith.addi(significand, arith.addi(half_less_one, arith.andi(kept, word(1)))), shift)


def _bits_of_bf16(bits: ir.Value) -> ir.Value:
    odd = arith.andi(arith.shrui(bits, word(16)), word(1))
    carried = arith.shrui(arith.addi(arith.addi(bits, word(0x7FFF)), odd), word(16))
    # Rounding could carry a NaN into infinity: keep its upper half and make it quiet.
    quiet = arith.ori(arith.shrui(bits, word(16)), word(0x40))
    is_nan = _above(arith.andi(bits, word(0x7FFFFFFF)), word(INFINITY))
    return arith.select(is_nan, quiet, carried)


def _exponent(bits: ir.Value) -> ir.Value:
    """The code of an f8E8M0FNU, which is an f32's exponent alone: the power of two at or below the magnitude, as IREE truncates."""
    return arith.andi(arith.shrui(bits, word(FRACTION)), word(0xFF))


def _power_of_two(bits: ir.Value) -> ir.Value:
    """The value of an f8E8M0FNU: 2**(code - 127), which is subnormal for code 0, and NaN for code 255."""
    code = arith.andi(bits, word(0xFF))
    value = arith.select(_equal(code, word(0)), word(1 << (FRACTION - 1)), arith.shli(code, word(FRACTION)))
    return arith.bitcast(f32(), arith.select(_equal(code, word(0xFF)), word(NAN), value))


def _equal(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, a, b)


def _above(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ugt, a, b)


def _below(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ult, a, b)
