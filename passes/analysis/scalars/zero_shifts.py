"""Shifts of 64-bit integers by a number that may be 0."""

from __future__ import annotations

from iree.compiler import ir

from .bodies import ops_in_bodies

_SHIFTS = ("arith.shli", "arith.shrui")


def shifts_in(op: ir.Operation) -> list[ir.Operation]:
    """Those in the regions of ``op`` for which pairs of 32-bit words give another number than 64 bits do: the word that is shifted into
    the other one would be shifted by 32."""
    return [inner for inner in ops_in_bodies(op) if inner.name in _SHIFTS and _may_be_wrong(inner)]


def value_and_amount(shift: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The two operands of a shift, in the order of its definition."""
    value, amount = shift.operands
    return value, amount


def _may_be_wrong(shift: ir.Operation) -> bool:
    value, amount = value_and_amount(shift)
    if not isinstance(value.type, ir.IntegerType) or value.type.width != 64 or _is_guarded(shift, value):
        return False
    if isinstance(amount.owner, ir.Block) or amount.owner.operation.name != "arith.constant":
        return True
    attribute = amount.owner.operation.attributes["value"]
    return isinstance(attribute, ir.IntegerAttr) and attribute.value == 0


def _is_guarded(shift: ir.Operation, value: ir.Value) -> bool:
    """Whether all that uses the result is a select that has the value itself as its other case (`fissile-guard-shifts`)."""
    users = [use.owner.operation for use in shift.results[0].uses]
    return bool(users) and all(user.name == "arith.select" and value in user.operands for user in users)
