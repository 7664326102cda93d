"""How do doubles become floats, and floats doubles, where the target has no f64?

A double is two words of 32 bits, the lower one first: a tensor of doubles has the bytes of a tensor of i32 with one more
dimension. Both conversions compute in i32 and round to nearest, ties to even, as arith.truncf does.
"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith, complex, math, tensor

from fissile.dialect import linalg_ops as linalg

from ..generic_ops import build_generic
from ..narrow.float_bits import FRACTION, INFINITY, f32, i32, word
from ..narrow.packed_words import sizes_of

_WORDS = 2
_SIGN, _MAGNITUDE = 0x80000000, 0x7FFFFFFF
_SHORTER = 29
"""Fraction bits that a double has more than a float."""
_REBASED = 1023 - 127
"""What a double's exponent counts more than a float's."""
_LARGEST_EXPONENT = 2047


def words_type(tensor_type: ir.RankedTensorType) -> ir.RankedTensorType:
    """The words of a tensor of f64 or complex<f64>."""
    return ir.RankedTensorType.get([*tensor_type.shape, _WORDS * _numbers(tensor_type.element_type)], i32())


def floats_of(words: ir.Value, element: ir.Type) -> ir.Value:
    """The tensor of f32, or of complex<f32> (``element``), that the doubles in ``words`` round to."""
    rank = ir.RankedTensorType(words.type).rank - 1
    init = tensor.EmptyOp(sizes_of(words)[:-1], element).result
    op, block = build_generic([], [init], [ir.AffineMap.get_identity(rank)], [True] * rank)
    with ir.InsertionPoint(block):
        place = [linalg.IndexOp(i).result for i in range(rank)]
        numbers = []
        for number in range(_numbers(element)):
            at = [arith.constant(ir.IndexType.get(), _WORDS * number + half) for half in (0, 1)]
            low, high = (tensor.extract(words, [*place, one]) for one in at)
            numbers.append(arith.bitcast(f32(), _narrowed(low, high)))
        linalg.YieldOp([_together(numbers, element)])
    return op.results[0]


def words_of(floats: ir.Value) -> ir.Value:
    """The words of the doubles that the elements of ``floats``, a tensor of f32 or complex<f32>, are."""
    type_ = ir.RankedTensorType(floats.type)
    count = _numbers(type_.element_type)
    rank = type_.rank + 1
    init = tensor.EmptyOp([*sizes_of(floats), _WORDS * count], i32()).result
    dims = [ir.AffineExpr.get_dim(i) for i in range(rank)]
    maps = [ir.AffineMap.get(rank, 0, dims[:-1]), ir.AffineMap.get_identity(rank)]
    op, block = build_generic([floats], [init], maps, [True] * rank)
    with ir.InsertionPoint(block):
        last = linalg.IndexOp(rank - 1).result
        value = block.arguments[0]
        parts = [value] if count == 1 else [complex.ReOp(value).result, complex.ImOp(value).result]
        words = [one for part in parts for one in _widened(arith.bitcast(i32(), part))]
        chosen = words[-1]
        for number in range(len(words) - 2, -1, -1):
            here = arith.cmpi(arith.CmpIPredicate.eq, last, arith.constant(ir.IndexType.get(), number))
            chosen = arith.select(here, words[number], chosen)
        linalg.YieldOp([chosen])
    return op.results[0]


def _numbers(element: ir.Type) -> int:
    return 2 if isinstance(element, ir.ComplexType) else 1


def _together(numbers: list[ir.Value], element: ir.Type) -> ir.Value:
    return numbers[0] if len(numbers) == 1 else complex.CreateOp(element, *numbers).result


def _narrowed(low: ir.Value, high: ir.Value) -> ir.Value:
    """The bits of the float that a double rounds to."""
    exponent = arith.andi(arith.shrui(high, word(20)), word(_LARGEST_EXPONENT))
    fraction = arith.ori(
        arith.shli(arith.andi(high, word(0xFFFFF)), word(3)), arith.shrui(low, word(_SHORTER))
    )
    rest = arith.andi(low, word((1 << _SHORTER) - 1))
    half = word(1 << (_SHORTER - 1))
    is_odd = _is(arith.andi(fraction, word(1)))
    up = arith.ori(_above(rest, half), arith.andi(_same(rest, half), is_odd))
    # Rounding may carry into the exponent, and from the largest one to infinity.
    rebased = arith.subi(exponent, word(_REBASED))
    normal = arith.addi(arith.ori(arith.shli(rebased, word(FRACTION)), fraction), _as_word(up))
    normal = arith.select(_compared("sgt", rebased, word(254)), word(INFINITY), normal)
    small = _below_normal(fraction, rest, rebased)
    found = arith.select(_compared("slt", rebased, word(1)), small, normal)
    is_nan = _is(arith.ori(fraction, rest))
    special = arith.select(is_nan, arith.ori(word(INFINITY | 1 << (FRACTION - 1)), fraction), word(INFINITY))
    found = arith.select(_same(exponent, word(_LARGEST_EXPONENT)), special, found)
    return arith.ori(found, arith.andi(high, word(_SIGN)))


def _below_normal(fraction: ir.Value, rest: ir.Value, rebased: ir.Value) -> ir.Value:
    """A number below the smallest normal float: its digits are shifted by more places the smaller it is."""
    digits = arith.ori(fraction, word(1 << FRACTION))
    places = arith.minui(arith.subi(word(1), rebased), word(FRACTION + 2))
    kept = arith.shrui(digits, places)
    cut = arith.subi(digits, arith.shli(kept, places))
    half = arith.shli(word(1), arith.subi(places, word(1)))
    tie_up = arith.ori(_is(rest), _is(arith.andi(kept, word(1))))
    up = arith.ori(_above(cut, half), arith.andi(_same(cut, half), tie_up))
    return arith.addi(kept, _as_word(up))


def _widened(bits: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The lower and the upper word of the double that a float is."""
    magnitude = arith.andi(bits, word(_MAGNITUDE))
    exponent, fraction = (
        arith.shrui(magnitude, word(FRACTION)),
        arith.andi(magnitude, word((1 << FRACTION) - 1)),
    )
    is_small, is_special = _same(exponent, word(0)), _same(exponent, word(255))
    # A subnormal float is a normal double: the first digit moves to where it is not written.
    leading = math.ctlz(fraction)
    places = arith.subi(leading, word(31 - FRACTION))
    moved = arith.andi(
        arith.shli(fraction, arith.select(is_small, places, word(0))), word((1 << FRACTION) - 1)
    )
    of_small = arith.subi(word(_REBASED + 1), places)
    wide = arith.select(is_small, of_small, arith.addi(exponent, word(_REBASED)))
    wide = arith.select(is_special, word(_LARGEST_EXPONENT), wide)
    high = arith.ori(arith.shli(wide, word(20)), arith.shrui(moved, word(3)))
    high = arith.select(_same(magnitude, word(0)), word(0), high)
    return arith.shli(moved, word(_SHORTER)), arith.ori(high, arith.andi(bits, word(_SIGN)))


def _compared(predicate: str, one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.cmpi(getattr(arith.CmpIPredicate, predicate), one, other)


def _above(one: ir.Value, other: ir.Value) -> ir.Value:
    return _compared("ugt", one, other)


def _same(one: ir.Value, other: ir.Value) -> ir.Value:
    return _compared("eq", one, other)


def _is(value: ir.Value) -> ir.Value:
    """Whether a bit is set."""
    return _compared("ne", value, word(0))


def _as_word(bit: ir.Value) -> ir.Value:
    return arith.extui(i32(), bit)
