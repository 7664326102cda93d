"""Signed remainders whose dividend may be the lowest number of its type."""

from __future__ import annotations

from collections.abc import Collection

from iree.compiler import ir

from .bodies import ops_in_bodies

_REMAINDER, _CONSTANT, _INDEX = "arith.remsi", "arith.constant", "linalg.index"
_EXTENSIONS = ("arith.extsi", "arith.extui")
_SHIFTS = ("arith.shrsi", "arith.shrui")
_CASTS = ("arith.index_cast", "arith.index_castui")


def remainders_in(op: ir.Operation, types: Collection[str] = ()) -> list[ir.Operation]:
    """The remainders in the regions of ``op`` that have the wrong sign where the sign is read off the dividend's absolute value: the
    lowest number is its own absolute value. Of ``types`` only, if any are given.

    A remainder by a power of two is 0 for it.
    """
    return [
        inner
        for inner in ops_in_bodies(op)
        if inner.name == _REMAINDER
        and _may_be_wrong(inner)
        and (not types or str(inner.operands[0].type) in types)
    ]


def dividend_and_divisor(remainder: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The two operands of a remainder, in the order of its definition."""
    dividend, divisor = remainder.operands
    return dividend, divisor


def _may_be_wrong(remainder: ir.Operation) -> bool:
    dividend, divisor = dividend_and_divisor(remainder)
    number = _integer(divisor)
    by_power_of_two = number is not None and abs(number).bit_count() == 1
    return isinstance(dividend.type, ir.IntegerType) and not by_power_of_two and _may_be_lowest(dividend)


def _may_be_lowest(value: ir.Value) -> bool:
    """Whether ``value`` is not known to be another number, by the op that computes it."""
    if (number := _integer(value)) is not None:
        return number == -(1 << value.type.width - 1)
    if isinstance(value.owner, ir.Block):
        return True
    maker = value.owner.operation
    operands = list(maker.operands)
    if maker.name in _CASTS:  # a position is a positive number of 32 bits at most
        return isinstance(operands[0].owner, ir.Block) or operands[0].owner.operation.name != _INDEX
    if maker.name in _SHIFTS:
        return not _integer(operands[1])
    if maker.name == "arith.andi":
        return not any(number is not None and number >= 0 for number in map(_integer, operands))
    if maker.name == "arith.maxsi":
        return all(_may_be_lowest(operand) for operand in operands)
    if maker.name == "arith.select":
        return not _is_raised(*operands) and any(_may_be_lowest(operand) for operand in operands[1:])
    return maker.name not in (*_EXTENSIONS, _REMAINDER)


def _is_raised(condition: ir.Value, _raised: ir.Value, value: ir.Value) -> bool:
    """Whether a select of these has a higher number in the place of the lowest ``value`` (`fissile-sign-remainders`)."""
    if isinstance(condition.owner, ir.Block) or condition.owner.operation.name != "arith.cmpi":
        return False
    comparison = condition.owner.operation
    compared, number = comparison.operands
    is_equal = ir.IntegerAttr(comparison.attributes["predicate"]).value == 0
    return is_equal and compared == value and _integer(number) == -(1 << value.type.width - 1)


def _integer(value: ir.Value) -> int | None:
    """The number that ``value`` is; None where it is no constant integer."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != _CONSTANT:
        return None
    attribute = value.owner.operation.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None
