"""Integer ops as simpler ones: what a target without 64-bit integers, or without the op, computes instead.

The forms are those of arith and math in MLIR's documentation; where MLIR leaves a result undefined (a division by zero), these do too.
64-bit division is by 32-bit halves (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D).
"""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir
from iree.compiler.dialects import arith, math

Form = Callable[..., ir.Value]
"""Builds an integer from operands, at the insertion point."""


def integer_form_of(op: ir.Operation) -> Form | None:
    """How ``op`` is computed without itself from its operands; None where no target lacks it."""
    if op.name in _ANY_WIDTH:
        return _ANY_WIDTH[op.name]
    type_ = op.results[0].type
    return _WIDE.get(op.name) if isinstance(type_, ir.IntegerType) and type_.width == 64 else None


# --- words


def _constant(type_: ir.Type, number: int) -> ir.Value:
    return arith.constant(type_, number)


def _halves(value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The low and the high 32 bits of a 64-bit integer."""
    word = ir.IntegerType.get_signless(32)
    return arith.trunci(word, value), arith.trunci(word, arith.shrui(value, _constant(value.type, 32)))


def _whole(low: ir.Value, high: ir.Value) -> ir.Value:
    wide = ir.IntegerType.get_signless(64)
    return arith.ori(arith.extui(wide, low), arith.shli(arith.extui(wide, high), _constant(wide, 32)))


def _is(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate[predicate], left, right)


def _is_zero(value: ir.Value) -> ir.Value:
    return _is("eq", value, _constant(value.type, 0))


def _is_negative(value: ir.Value) -> ir.Value:
    return _is("slt", value, _constant(value.type, 0))


def _negated_where(condition: ir.Value, value: ir.Value) -> ir.Value:
    return arith.select(condition, arith.subi(_constant(value.type, 0), value), value)


def _increased_where(condition: ir.Value, value: ir.Value) -> ir.Value:
    return arith.addi(value, arith.extui(value.type, condition))


# --- division


def _divui(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """Unsigned 64-bit division: one division of two words by one, of what stands first in the divisor."""
    word = ir.IntegerType.get_signless(32)
    one, most = _constant(word, 1), _constant(word, 31)
    low, high = _halves(dividend)
    low_divisor, high_divisor = _halves(divisor)
    short = _is_zero(high_divisor)
    leading = arith.select(short, low_divisor, high_divisor)
    shift = math.ctlz(leading)
    rest = arith.subi(most, shift)
    # The divisor's first 32 bits from its highest one on. A shift by 32 is undefined, so it is by one and by one less.
    below = arith.select(short, _constant(word, 0), low_divisor)
    first = arith.ori(arith.shli(leading, shift), arith.shrui(arith.shrui(below, one), rest))
    # By one word: the high word first, then what is left of it with the low one.
    high_quotient = arith.divui(high, arith.select(short, low_divisor, one))
    left = arith.subi(high, arith.muli(high_quotient, low_divisor))
    short_high = arith.ori(arith.shli(left, shift), arith.shrui(arith.shrui(low, one), rest))
    # By two words: half the dividend, so that the quotient fits, by the first 32 bits; one too large at most.
    half_low, half_high = _halves(arith.shrui(dividend, _constant(dividend.type, 1)))
    quotient = _two_by_one(
        arith.select(short, short_high, half_high),
        arith.select(short, arith.shli(low, shift), half_low),
        first,
    )
    by_one = _whole(quotient, high_quotient)
    guess = arith.shrui(quotient, rest)
    guess = arith.subi(guess, arith.extui(word, _is("ne", guess, _constant(word, 0))))
    wide = arith.extui(dividend.type, guess)
    too_small = _is("uge", arith.subi(dividend, arith.muli(wide, divisor)), divisor)
    return arith.select(short, by_one, _increased_where(too_small, wide))


def _two_by_one(high: ir.Value, low: ir.Value, divisor: ir.Value) -> ir.Value:
    """Two words by one whose highest bit is set and which is larger than ``high``: two digits of 16 bits."""
    word = divisor.type
    sixteen, mask = _constant(word, 16), _constant(word, 0xFFFF)
    divisor_high, divisor_low = arith.shrui(divisor, sixteen), arith.andi(divisor, mask)

    def digit(remainder: ir.Value, following: ir.Value) -> ir.Value:
        guess = arith.divui(remainder, divisor_high)
        left = arith.subi(remainder, arith.muli(guess, divisor_high))
        for _ in range(2):
            # Only while what is left has 16 bits; and a guess of more than 16 is too large whatever follows.
            able = _is_zero(arith.shrui(left, sixteen))
            beyond = _is("ne", arith.shrui(guess, sixteen), _constant(word, 0))
            over = _is("ugt", arith.muli(guess, divisor_low), arith.ori(arith.shli(left, sixteen), following))
            lower = arith.andi(able, arith.ori(beyond, over))
            guess = arith.subi(guess, arith.extui(word, lower))
            left = arith.addi(left, arith.select(lower, divisor_high, _constant(word, 0)))
        return guess

    upper, lower = arith.shrui(low, sixteen), arith.andi(low, mask)
    first = digit(high, upper)
    rest = arith.subi(arith.addi(arith.shli(high, sixteen), upper), arith.muli(first, divisor))
    return arith.addi(arith.shli(first, sixteen), digit(rest, lower))


def _remui(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    return arith.subi(dividend, arith.muli(_divui(dividend, divisor), divisor))


def _absi(value: ir.Value) -> ir.Value:
    return _negated_where(_is_negative(value), value)


def _divsi(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    unlike = arith.xori(_is_negative(dividend), _is_negative(divisor))
    return _negated_where(unlike, _divui(_absi(dividend), _absi(divisor)))


def _remsi(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    return arith.subi(dividend, arith.muli(_divsi(dividend, divisor), divisor))


def _floordivsi(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    quotient = _divsi(dividend, divisor)
    rest = arith.subi(dividend, arith.muli(quotient, divisor))
    unlike = arith.xori(_is_negative(dividend), _is_negative(divisor))
    lower = arith.andi(unlike, _is("ne", rest, _constant(rest.type, 0)))
    return arith.subi(quotient, arith.extui(quotient.type, lower))


def _ceildivsi(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    quotient = _divsi(dividend, divisor)
    rest = arith.subi(dividend, arith.muli(quotient, divisor))
    alike = _is("eq", _is_negative(dividend), _is_negative(divisor))
    return _increased_where(arith.andi(alike, _is("ne", rest, _constant(rest.type, 0))), quotient)


def _ceildivui(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    quotient = _divui(dividend, divisor)
    rest = arith.subi(dividend, arith.muli(quotient, divisor))
    return _increased_where(_is("ne", rest, _constant(rest.type, 0)), quotient)


# --- bits and powers


def _ctlz(value: ir.Value) -> ir.Value:
    low, high = _halves(value)
    word = low.type
    counted = arith.select(_is_zero(high), arith.addi(math.ctlz(low), _constant(word, 32)), math.ctlz(high))
    return arith.extui(value.type, counted)


def _cttz(value: ir.Value) -> ir.Value:
    low, high = _halves(value)
    word = low.type
    counted = arith.select(_is_zero(low), arith.addi(math.cttz(high), _constant(word, 32)), math.cttz(low))
    return arith.extui(value.type, counted)


def _ctpop(value: ir.Value) -> ir.Value:
    low, high = _halves(value)
    return arith.extui(value.type, arith.addi(math.ctpop(low), math.ctpop(high)))


def ipowi(base: ir.Value, exponent: ir.Value) -> ir.Value:
    """By squaring, a step for each bit of the exponent; of a negative one only 1 and -1 have a power other than 0."""
    type_ = base.type
    zero, one = _constant(type_, 0), _constant(type_, 1)
    power, square, left = one, base, exponent
    for _ in range(type_.width - 1):
        odd = _is("ne", arith.andi(left, one), zero)
        power = arith.select(odd, arith.muli(power, square), power)
        square, left = arith.muli(square, square), arith.shrui(left, one)
    minus = _constant(type_, -1)
    odd = _is("ne", arith.andi(exponent, one), zero)
    alternating = arith.select(odd, minus, one)
    inverse = arith.select(_is("eq", base, one), one, arith.select(_is("eq", base, minus), alternating, zero))
    return arith.select(_is_negative(exponent), inverse, power)


_WIDE: dict[str, Form] = {
    "arith.divui": _divui,
    "arith.remui": _remui,
    "arith.divsi": _divsi,
    "arith.remsi": _remsi,
    "arith.floordivsi": _floordivsi,
    "arith.ceildivsi": _ceildivsi,
    "arith.ceildivui": _ceildivui,
    "math.absi": _absi,
    "math.ctlz": _ctlz,
    "math.cttz": _cttz,
    "math.ctpop": _ctpop,
}
"""Of 64 bits."""
_ANY_WIDTH: dict[str, Form] = {"math.ipowi": ipowi}
