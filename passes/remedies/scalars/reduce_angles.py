"""Sines, cosines and tangents of angles of any size."""

from __future__ import annotations

import math as numbers
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.dispatch.narrow_types import targets_of
from fissile.passes.analysis.scalars.angles import angles_in
from fissile.passes.definition import option, register_pass
from fissile.passes.iree.attributes import read_target

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

Multiply = Callable[[ir.Value, ir.Value], tuple[ir.Value, ir.Value]]

_TURN = (0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410, 0x7F9458EA, 0xF7AEF158)
"""1 / (2 pi) in binary, behind the point: words of 32 bits."""
_BIAS = 126
"""A float32 of 2^e and more, but below 2^(e + 1), has e + 1 + this in its exponent."""
_FIRST = 150 - 32
"""The exponent of floats that read 1 / (2 pi) from the first bit of the word of zeros before it."""
_SMALL = numbers.pi / 4
"""Below, an angle is its own remainder."""
_SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
"""Cephes' polynomials for -pi/4 to pi/4, from the highest power."""


@register_pass
@dataclass(frozen=True)
class ReduceAngles(OpRemedy):
    """Computes, in the bodies of linalg ops, `math.sin`, `math.cos` and `math.tan` of the angle's exact remainder by a quarter turn.

    IREE 3.13 subtracts a product that is rounded (FIS214). The remainder is computed here in integers of 32 bits, with the digits of
    1/(2 pi) that the angle's exponent calls for (Payne and Hanek, 1983), so that no compiler may reorder it. Half precision is computed
    in f32 and rounded once. ``ops`` chooses source ops by index; without it, every op with such a function. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-reduce-angles"
    order: ClassVar[int] = 38
    cures: ClassVar[tuple[str, ...]] = ("FIS214",)
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "computes sine, cosine and tangent of the angle's exact remainder by a quarter turn"
    repairs: ClassVar[str] = "sine, cosine and tangent of large or tiny angles (not on AMD)"
    numbers: ClassVar[str] = "closer to the exact values"
    counterpart: ClassVar[str] = "IREE's own expansion is the one that loses digits; no flag changes that."
    done: ClassVar[str] = "computed sines and cosines in {ops} of the exact remainder of the angle"
    advice: ClassVar[str] = "compute sines and cosines in {ops} of the exact remainder of the angle"
    refusal: ClassVar[str] = "{op} has no sine, cosine or tangent to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a function")
    halves: bool = option(
        False,
        "multiply by halves of words: IREE's VM, by which it evaluates constants, has no `arith.mului_extended`",
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return (
            FITS
            if angles_in(op)
            else Match("its body has none of floats of 32 bits or less, or their angles are small")
        )

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "about 100 instructions for an angle, most of them on integers"

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        multiply = (
            _product_by_halves if self.halves else _product_of_64_bits if _only_on_cpus(ops) else _product
        )
        for op in ops:
            for function, largest in angles_in(op).items():
                with ir.InsertionPoint(function), function.location:
                    value = _computed(function, Reduction(_words_above(largest), multiply))
                function.results[0].replace_all_uses_with(value)
                function.erase()


@dataclass(frozen=True)
class Reduction:
    """How an angle is reduced: ``words`` is how many words of 1 / (2 pi) its exponent may skip, and ``multiply`` makes both words of a product."""

    words: int
    multiply: Multiply


def _words_above(largest: float) -> int:
    """Of angles up to ``largest``."""
    exponent = min(numbers.frexp(largest)[1], 128) if numbers.isfinite(largest) else 128
    return ((exponent + _BIAS - _FIRST) >> 5) + 1


def _computed(op: ir.Operation, reduction: Reduction) -> ir.Value:
    f32, given = ir.F32Type.get(), op.results[0].type
    x = op.operands[0] if given == f32 else arith.extf(f32, op.operands[0])
    result = _function(op.name, x, reduction)
    return result if given == f32 else arith.truncf(given, result)


def _function(name: str, x: ir.Value, reduction: Reduction) -> ir.Value:
    bits = arith.bitcast(ir.IntegerType.get_signless(32), x)
    size = arith.andi(bits, _int(0x7FFFFFFF))
    quarter, rest = _remainder(size, reduction)
    is_small = _compare("ult", size, _int(_bits_of(_SMALL)))
    rest = arith.select(is_small, arith.bitcast(ir.F32Type.get(), size), rest)
    quarter = arith.select(is_small, _int(0), quarter)
    square = arith.mulf(rest, rest)
    sine, cosine = _sine(rest, square), _cosine(square)
    is_odd = _compare("ne", arith.andi(quarter, _int(1)), _int(0))
    sign = arith.andi(bits, _int(0x80000000))
    if name == "math.tan":
        over, under = arith.select(is_odd, cosine, sine), arith.select(is_odd, sine, cosine)
        value, flipped = arith.divf(over, under), arith.xori(sign, _sign_bit(quarter, 0))
    elif name == "math.sin":
        value, flipped = arith.select(is_odd, cosine, sine), arith.xori(sign, _sign_bit(quarter, 1))
    else:
        value = arith.select(is_odd, sine, cosine)
        flipped = _sign_bit(arith.addi(quarter, _int(1)), 1)
    signed = arith.bitcast(ir.F32Type.get(), arith.xori(_as_bits(value), flipped))
    is_finite = _compare("ult", size, _int(0x7F800000))
    return arith.select(is_finite, signed, _number(numbers.nan))


def _remainder(size: ir.Value, reduction: Reduction) -> tuple[ir.Value, ir.Value]:
    """The number of quarter turns in the float whose bits ``size`` are, modulo 4, and what is left, -pi/4 to pi/4."""
    exponent = arith.shrui(size, _int(23))
    digits = arith.ori(arith.andi(size, _int(0x7FFFFF)), _int(0x800000))
    # |x| is digits * 2^(exponent - 150). Digits of 1/(2 pi) of weight 2^(150 - exponent) and above make whole turns: the rest
    # begins at this bit of 0 and the words.
    first = arith.subi(exponent, _int(_FIRST))
    word, shift = arith.shrui(first, _int(5)), arith.andi(first, _int(31))
    row = (0, *_TURN)
    at = [_chosen(word, row[i : i + reduction.words]) for i in range(4)]
    window = [_shifted(at[i], at[i + 1], shift) for i in range(3)]
    high = arith.muli(digits, window[0])
    middle_low, middle_high = reduction.multiply(digits, window[1])
    _low, low_high = reduction.multiply(digits, window[2])
    below = arith.addi(middle_low, low_high)
    carry = arith.extui(below.type, _compare("ult", below, middle_low))
    turn = arith.addi(arith.addi(high, middle_high), carry)
    # `turn` and `below` are the fraction of a turn, in 2^-32 and 2^-64.
    quarter = arith.shrui(arith.addi(turn, _int(0x20000000)), _int(30))
    left = arith.subi(turn, arith.shli(quarter, _int(30)))
    f32 = ir.F32Type.get()
    fraction = arith.addf(arith.sitofp(f32, left), arith.mulf(arith.uitofp(f32, below), _number(2.0**-32)))
    return quarter, arith.mulf(fraction, _number(2 * numbers.pi * 2.0**-32))


def _sine(rest: ir.Value, square: ir.Value) -> ir.Value:
    return arith.addf(rest, arith.mulf(arith.mulf(rest, square), _polynomial(_SINE, square)))


def _cosine(square: ir.Value) -> ir.Value:
    curve = arith.mulf(arith.mulf(square, square), _polynomial(_COSINE, square))
    return arith.addf(arith.subf(_number(1.0), arith.mulf(square, _number(0.5))), curve)


def _polynomial(factors: Sequence[float], x: ir.Value) -> ir.Value:
    value = _number(factors[0])
    for factor in factors[1:]:
        value = arith.addf(arith.mulf(value, x), _number(factor))
    return value


def _chosen(index: ir.Value, words: Sequence[int]) -> ir.Value:
    value = _int(words[-1])
    for number in range(len(words) - 2, -1, -1):
        value = arith.select(_compare("eq", index, _int(number)), _int(words[number]), value)
    return value


def _shifted(upper: ir.Value, lower: ir.Value, shift: ir.Value) -> ir.Value:
    """The upper word of both, shifted to the left by 0 to 31 bits."""
    back = arith.subi(_int(31), shift)
    return arith.ori(arith.shli(upper, shift), arith.shrui(arith.shrui(lower, _int(1)), back))


def _product(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The lower and the upper 32 bits."""
    low, high = arith.mului_extended(a, b)
    return low, high


def _only_on_cpus(ops: Sequence[ir.Operation]) -> bool:
    """Whether every target of the module of ``ops`` is a CPU; not where it has none yet."""
    targets = targets_of(_module_of(ops[0])) if ops else ()
    return bool(targets) and all(read_target(target).backend == "llvm-cpu" for target in targets)


def _module_of(op: ir.Operation) -> ir.Operation:
    while op.parent is not None:
        op = op.parent.operation
    return op


def _product_of_64_bits(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The same on a CPU, of which the code is alike. IREE 3.13's conversion to LLVM has no `arith.mului_extended` of a vector of two
    dimensions, which a dispatch computes whose loops are not collapsed (FIS104)."""
    word, wide = ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(64)
    product = arith.muli(arith.extui(wide, a), arith.extui(wide, b))
    return arith.trunci(word, product), arith.trunci(word, arith.shrui(product, arith.constant(wide, 32)))


def _product_by_halves(digits: ir.Value, word: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The same of ``digits`` of 24 bits: as two times 12, by the word as two times 16, none of the four products exceeds 28 bits."""
    upper, lower = arith.shrui(digits, _int(12)), arith.andi(digits, _int(0xFFF))
    high, low = arith.shrui(word, _int(16)), arith.andi(word, _int(0xFFFF))
    # upper * high has the weight 2^28, upper * low 2^12, lower * high 2^16, and lower * low 1.
    first, second = arith.muli(upper, high), arith.muli(upper, low)
    third, fourth = arith.muli(lower, high), arith.muli(lower, low)
    cut = arith.addi(arith.shli(arith.andi(second, _int(0xF)), _int(12)), arith.andi(fourth, _int(0xFFFF)))
    middle = arith.addi(arith.addi(third, arith.shrui(fourth, _int(16))), arith.shrui(second, _int(4)))
    middle = arith.addi(middle, arith.shrui(cut, _int(16)))
    middle = arith.addi(middle, arith.shli(arith.andi(first, _int(0xF)), _int(12)))
    over = arith.addi(arith.shrui(first, _int(4)), arith.shrui(middle, _int(16)))
    return arith.muli(digits, word), over


def _sign_bit(quarter: ir.Value, bit: int) -> ir.Value:
    return arith.andi(arith.shli(quarter, _int(31 - bit)), _int(0x80000000))


def _as_bits(value: ir.Value) -> ir.Value:
    return arith.bitcast(ir.IntegerType.get_signless(32), value)


def _bits_of(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def _compare(predicate: str, a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(getattr(arith.CmpIPredicate, predicate), a, b)


def _int(value: int) -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(32), value - (1 << 32) if value >= 1 << 31 else value)


def _number(value: float) -> ir.Value:
    return arith.constant(ir.F32Type.get(), value)
