"""What integers are that are computed bit by bit: masks, shifts, counts of bits.

Machine integers are two's complement, so that a mask of ones from the lowest bit on is the remainder of a division that rounds down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from iree.compiler import ir

from ..conditions import all_of, any_of, at_most
from ..intervals import of_unsigned, wrapped
from ..size_terms import INDEX_BITS, ZERO, Term, apply, term
from .bit_ranges import ranges_of

if TYPE_CHECKING:
    from ..conditions import Condition
    from ..extents import Extents


def bits_of(type_: ir.Type) -> int:
    return type_.width if isinstance(type_, ir.IntegerType) else INDEX_BITS


def _operands(extents: Extents, op: ir.Operation, value: ir.Value) -> tuple[Term, Term] | None:
    """The two integers; None where they are conditions (i1) or tensors."""
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)) or bits_of(value.type) == 1:
        return None
    left, right = (extents.value(operand) for operand in op.operands)
    return left, right


def _known_by(extents: Extents, value: ir.Value, *facts: Callable[[Term], Condition]) -> Term:
    """``value`` by itself, with what is always true of it."""
    made = term(extents.symbol(value))
    extents.define(extents.symbol(value), all_of(fact(made) for fact in facts))
    return made


def in_ranges(
    extents: Extents, op: ir.Operation, value: ir.Value, *facts: Callable[[Term], Condition]
) -> Term | None:
    """The result of a bit operation or an unsigned one by itself, with the intervals that it lies in and ``facts``; the number where
    it can be one only."""
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)) or bits_of(value.type) == 1:
        return None
    left, right = (extents.bounds_of(extents.value(operand)) for operand in op.operands)
    ranges = ranges_of(_arith_name(op), left, right, bits_of(value.type))
    if not ranges:
        return None
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return term(ranges[0][0])

    def within(made: Term) -> Condition:
        return any_of(all_of((at_most(low, made), at_most(made, high))) for low, high in ranges)

    return _known_by(extents, value, within, *facts)


def _arith_name(op: ir.Operation) -> str:
    """`shli` for index.shl, too."""
    dialect, _, name = op.name.partition(".")
    return name if dialect == "arith" else _ARITH_NAMES[name]


_ARITH_NAMES = {
    "and": "andi", "or": "ori", "xor": "xori", "shl": "shli", "shrs": "shrsi", "shru": "shrui", "minu": "minui", "maxu": "maxui",
}  # fmt: skip
"""Of the ops of MLIR's index dialect."""


def _and(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """A mask of ones below bit k is ``mod 2**k``; one that clears them takes that away; any other that is not negative is the largest result."""
    operands = _operands(extents, op, value)
    if operands is None:
        return None
    for mask, other in (operands, operands[::-1]):
        known = mask.constant
        if known is not None and known >= 0 and known & (known + 1) == 0:
            return apply("mod", other, known + 1) if known else ZERO
        if known is not None and known < 0 and -known & (-known - 1) == 0:
            return wrapped(other - apply("mod", other, -known), bits_of(value.type))
    limits = [t for t in operands if extents.bounds_of(t)[0] >= 0 and t.constant is None]
    return in_ranges(extents, op, value, *(lambda made, t=t: at_most(made, t) for t in limits))


def _or(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """Of numbers that are not negative: no smaller than either, no larger than their sum."""
    operands = _not_negative(extents, op, value)
    if operands is None:
        return in_ranges(extents, op, value)
    left, right = operands
    return in_ranges(
        extents,
        op,
        value,
        lambda made: at_most(left, made),
        lambda made: at_most(right, made),
        lambda made: at_most(made, left + right),
    )


def _xor(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """Of numbers that are not negative: no larger than their sum. With -1: all bits the other way round."""
    operands = _operands(extents, op, value)
    if operands is None:
        return None
    for mask, other in (operands, operands[::-1]):
        if mask.constant == -1:
            return term(-1) - other
    if _not_negative(extents, op, value) is None:
        return in_ranges(extents, op, value)
    left, right = operands
    return in_ranges(extents, op, value, lambda made: at_most(made, left + right))


def _not_negative(extents: Extents, op: ir.Operation, value: ir.Value) -> tuple[Term, Term] | None:
    operands = _operands(extents, op, value)
    if operands is None or any(extents.bounds_of(t)[0] < 0 for t in operands):
        return None
    return operands


def _count(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """How many bits of an integer there are: at most its width."""
    if not isinstance(value.type, ir.IntegerType):
        return None
    width = bits_of(value.type)
    if width < 8:  # a count of all bits of an i1 to i3 wraps
        return None
    return _known_by(extents, value, lambda made: at_most(0, made), lambda made: at_most(made, width))


def _shift_left(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    by = extents.value(op.operands[1]).constant
    if by is None or not 0 <= by < bits_of(value.type):
        return in_ranges(extents, op, value)
    return wrapped(extents.value(op.operands[0]) * (1 << by), bits_of(value.type))


def _shift_right(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    by, known = extents.value(op.operands[1]).constant, extents.value(op.operands[0])
    if by is None or not 0 <= by < bits_of(value.type) - 1:
        return in_ranges(extents, op, value)
    if op.name == "arith.shrui" and by and extents.bounds_of(known)[0] < 0:
        return of_unsigned("tdiv", [known, term(1 << by)], bits_of(value.type))
    return apply("floordiv", known, 1 << by)


BIT_RULES: dict[str, Callable[[Extents, ir.Operation, ir.Value], Term | None]] = {
    "arith.andi": _and,
    "arith.ori": _or,
    "arith.xori": _xor,
    "arith.shli": _shift_left,
    "arith.shrsi": _shift_right,
    "arith.shrui": _shift_right,
    "math.ctpop": _count,
    "math.ctlz": _count,
    "math.cttz": _count,
}
