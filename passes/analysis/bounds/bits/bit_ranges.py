"""How large the results of bit operations and unsigned operations can be: intervals from intervals, no MLIR.

Numbers are what a signed machine integer of ``bits`` holds. Each operand is split at 0, because the bits of a negative number read
as a large unsigned one: within one sign the unsigned order is the signed one. So a result may lie in several intervals:
``x | 16`` is negative, or at least 16. The bounds of and, or, xor are those of H. S. Warren, Hacker's Delight, chapter 4-3.
"""

from __future__ import annotations

from collections.abc import Callable

Interval = tuple[int, int]


def ranges_of(name: str, left: Interval, right: Interval, bits: int) -> list[Interval]:
    """Disjoint intervals, in order, that hold every result of ``name`` (a key of RULES) that is defined. A shift by less than 0 or
    by ``bits`` and more is not: none where all are like that."""
    found = []
    for a in _split(left):
        for b in _split(right):
            if name in SHIFTS:
                b = max(b[0], 0), min(b[1], bits - 1)
                if b[0] > b[1]:
                    continue
            found.append(RULES[name](a, b, bits))
    return _merged(found)


def _split(of: Interval) -> list[Interval]:
    """The negative part and the other."""
    parts = (of[0], min(of[1], -1)), (max(of[0], 0), of[1])
    return [part for part in parts if part[0] <= part[1]]


def _merged(found: list[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for low, high in sorted(found):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return merged


def _unsigned(combine: Callable[[Interval, Interval, int], Interval]) -> Callable:
    """``combine`` sees the numbers as unsigned ones, and its results all have one sign."""

    def rule(a: Interval, b: Interval, bits: int) -> Interval:
        wrap, sign = 1 << bits, 1 << (bits - 1)
        low, high = combine((a[0] % wrap, a[1] % wrap), (b[0] % wrap, b[1] % wrap), bits)
        if low < sign <= high:
            return -sign, sign - 1
        return (low - wrap, high - wrap) if low >= sign else (low, high)

    return rule


def _least_or(a: Interval, b: Interval, bits: int) -> int:
    (low, high), (first, last) = a, b
    for bit in (1 << n for n in reversed(range(bits))):
        if ~low & first & bit and (low | bit) & -bit <= high:
            low = (low | bit) & -bit
            break
        if low & ~first & bit and (first | bit) & -bit <= last:
            first = (first | bit) & -bit
            break
    return low | first


def _largest_or(a: Interval, b: Interval, bits: int) -> int:
    (low, high), (first, last) = a, b
    for bit in (1 << n for n in reversed(range(bits))):
        if high & last & bit:
            if (high - bit) | (bit - 1) >= low:
                high = (high - bit) | (bit - 1)
                break
            if (last - bit) | (bit - 1) >= first:
                last = (last - bit) | (bit - 1)
                break
    return high | last


def _or(a: Interval, b: Interval, bits: int) -> Interval:
    return _least_or(a, b, bits), _largest_or(a, b, bits)


def _and(a: Interval, b: Interval, bits: int) -> Interval:
    """not (not a or not b)"""
    ones = (1 << bits) - 1
    low, high = _or((ones - a[1], ones - a[0]), (ones - b[1], ones - b[0]), bits)
    return ones - high, ones - low


def _xor(a: Interval, b: Interval, bits: int) -> Interval:
    """(a and not b) or (b and not a); the two are not independent, so this may hold more than all results."""
    ones = (1 << bits) - 1
    not_a, not_b = (ones - a[1], ones - a[0]), (ones - b[1], ones - b[0])
    return _or(_and(a, not_b, bits), _and(b, not_a, bits), bits)


def _shift_left(a: Interval, b: Interval, bits: int) -> Interval:
    ends = [x << n for x in a for n in b]
    limits = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return (min(ends), max(ends)) if limits[0] <= min(ends) and max(ends) <= limits[1] else limits


def _shift_right(a: Interval, b: Interval, _bits: int) -> Interval:
    ends = [x >> n for x in a for n in b]
    return min(ends), max(ends)


def _shift_right_unsigned(a: Interval, b: Interval, bits: int) -> Interval:
    if a[0] < 0 and b[0] == 0 < b[1]:  # not shifted it is negative, shifted it is not
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return _unsigned(lambda x, y, _: (x[0] >> y[1], x[1] >> y[0]))(a, b, bits)


SHIFTS = ("shli", "shrsi", "shrui")
RULES: dict[str, Callable[[Interval, Interval, int], Interval]] = {
    "andi": _unsigned(_and),
    "ori": _unsigned(_or),
    "xori": _unsigned(_xor),
    "minui": _unsigned(lambda a, b, _: (min(a[0], b[0]), min(a[1], b[1]))),
    "maxui": _unsigned(lambda a, b, _: (max(a[0], b[0]), max(a[1], b[1]))),
    "shli": _shift_left,
    "shrsi": _shift_right,
    "shrui": _shift_right_unsigned,
}
"""By the name of the op in the arith dialect: of two intervals of numbers of one sign each."""
