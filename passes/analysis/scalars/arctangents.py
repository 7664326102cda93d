"""Arctangents of two numbers that may both be 0 or infinite."""

from __future__ import annotations

from iree.compiler import ir

from .bodies import ops_in_bodies

_ARCTANGENT = "math.atan2"


def arctangents_in(op: ir.Operation) -> list[ir.Operation]:
    """Those in the regions of ``op``, of floats of 32 bits or less, whose result is used as it is (`fissile-guard-arctangents` takes the
    magnitude)."""
    return [one for one in ops_in_bodies(op) if one.name == _ARCTANGENT and _may_be_wrong(one)]


def ordinate_and_abscissa(op: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The two operands, in the order of the op's definition: y and x of a point."""
    y, x = op.operands
    return y, x


def _may_be_wrong(op: ir.Operation) -> bool:
    y, _x = ordinate_and_abscissa(op)
    users = [use.owner.operation.name for use in op.results[0].uses]
    narrow = isinstance(y.type, ir.FloatType) and y.type.width <= 32
    return narrow and any(user != "math.absf" for user in users)
