"""How is a 16-bit float turned into its bits and back where the target computes in 32 bits only?

Everything is done in i32 and f32 arithmetic that is exact, so no rounding mode and no flushing of subnormals
changes a bit: conversions round to nearest, ties to even, as arith.truncf does.
"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith


def i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def f32() -> ir.Type:
    return ir.F32Type.get()


def word(value: int) -> ir.Value:
    """An i32 constant with the bits of ``value`` (0 to 2**32 - 1, or negative)."""
    value &= 0xFFFFFFFF
    return arith.constant(i32(), value - (1 << 32) if value >= 1 << 31 else value)


def bits_of_half(kind: str, value: ir.Value) -> ir.Value:
    """The 16 bits (in an i32, upper half 0) of the f32 ``value`` rounded to ``kind`` (`f16` or `bf16`)."""
    bits = arith.bitcast(i32(), value)
    if kind == "bf16":
        return _bits_of_bf16(bits)
    return _bits_of_f16(bits)


def half_of_bits(kind: str, bits: ir.Value) -> ir.Value:
    """The f32 value of the ``kind`` whose bits are the lower half of the i32 ``bits``; the upper half is
    ignored."""
    if kind == "bf16":
        return arith.bitcast(f32(), arith.shli(bits, word(16)))
    sign = arith.shli(arith.andi(bits, word(0x8000)), word(16))
    magnitude = arith.andi(bits, word(0x7FFF))
    exponent = arith.andi(bits, word(0x7C00))
    # Normal numbers: the exponent's bias grows by 127 - 15; infinity and NaN: by the same once more.
    normal = arith.addi(arith.shli(magnitude, word(13)), word((127 - 15) << 23))
    special = arith.addi(normal, word((127 - 15) << 23))
    # Subnormal numbers and zero: a whole number of 2**-24, which f32 holds as a normal number.
    fraction = arith.mulf(arith.sitofp(f32(), magnitude), arith.constant(f32(), 2.0**-24))
    small = arith.bitcast(i32(), fraction)
    chosen = arith.select(_equal(exponent, word(0x7C00)), special, normal)
    chosen = arith.select(_equal(exponent, word(0)), small, chosen)
    return arith.bitcast(f32(), arith.ori(chosen, sign))


def round_to_half(kind: str, value: ir.Value) -> ir.Value:
    """The f32 ``value`` rounded to a value of ``kind``, still an f32."""
    return half_of_bits(kind, bits_of_half(kind, value))


def _bits_of_f16(bits: ir.Value) -> ir.Value:
    sign = arith.andi(arith.shrui(bits, word(16)), word(0x8000))
    magnitude = arith.andi(bits, word(0x7FFFFFFF))
    exponent = arith.shrui(magnitude, word(23))
    # Normal results: 13 bits go; ties to even by adding half a unit less one, and one more where the last bit
    # is set.
    odd = arith.andi(arith.shrui(magnitude, word(13)), word(1))
    normal = arith.addi(magnitude, word(-((127 - 15) << 23) + 0xFFF))
    normal = arith.shrui(arith.addi(normal, odd), word(13))
    # Subnormal results: the significand is shifted by as much as the exponent is too small, at most 25 bits.
    significand = arith.ori(arith.andi(magnitude, word(0x7FFFFF)), word(0x800000))
    shift = arith.maxsi(arith.minsi(arith.subi(word(126), exponent), word(25)), word(1))
    kept = arith.shrui(significand, shift)
    half_less_one = arith.subi(arith.shli(word(1), arith.subi(shift, word(1))), word(1))
    rounded = arith.addi(significand, arith.addi(half_less_one, arith.andi(kept, word(1))))
    small = arith.shrui(rounded, shift)
    special = arith.select(_above(magnitude, word(0x7F800000)), word(0x7E00), word(0x7C00))
    # From 65520 on a number rounds to infinity: the sum above carries into the exponent and gives 0x7C00
    # itself up to 2**16; larger ones and NaN are chosen here.
    chosen = arith.select(_above(magnitude, word(0x477FFFFF)), special, normal)
    chosen = arith.select(_below(magnitude, word(0x38800000)), small, chosen)
    return arith.ori(chosen, sign)


def _bits_of_bf16(bits: ir.Value) -> ir.Value:
    odd = arith.andi(arith.shrui(bits, word(16)), word(1))
    rounded = arith.shrui(arith.addi(arith.addi(bits, word(0x7FFF)), odd), word(16))
    # Rounding could carry a NaN into infinity: keep its upper half and make it quiet.
    quiet = arith.ori(arith.shrui(bits, word(16)), word(0x40))
    is_nan = _above(arith.andi(bits, word(0x7FFFFFFF)), word(0x7F800000))
    return arith.select(is_nan, quiet, rounded)


def _equal(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, a, b)


def _above(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ugt, a, b)


def _below(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ult, a, b)
