"""Powers whose base may be negative, and which IREE computes by the logarithm of the base."""

from __future__ import annotations

from iree.compiler import ir

from ..bounds.extents import Extents
from ..bounds.float_ranges import range_of
from .bodies import ops_in_bodies

_FLOAT_POWER, _INTEGER_POWER = "math.powf", "math.fpowi"
_BY_PRODUCTS = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0)
"""Constant exponents for which MLIR's ExpandPatterns (IREE 3.13: MathTransformPass) need no logarithm."""
_NEVER_NEGATIVE = ("math.absf", "math.exp", "math.exp2", "math.rsqrt", "math.sqrt", "arith.uitofp")
_LARGER = ("arith.maximumf", "arith.maxnumf")
_SAME_SIGN = ("arith.extf", "arith.truncf")


def powers_in(op: ir.Operation) -> list[ir.Operation]:
    """The powers in the regions of ``op``, of floats of 32 bits or less, that are NaN where they are real numbers."""
    return [
        one for one in ops_in_bodies(op) if one.name in (_FLOAT_POWER, _INTEGER_POWER) and _may_be_wrong(one)
    ]


def base_and_exponent(power: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The two operands of a power, in the order of its definition."""
    base, exponent = power.operands
    return base, exponent


def _may_be_wrong(power: ir.Operation) -> bool:
    base, exponent = base_and_exponent(power)
    if not isinstance(base.type, ir.FloatType) or base.type.width > 32 or _is_not_negative(base):
        return False
    number = _float(exponent)
    if power.name == _INTEGER_POWER:
        return _owner(exponent, "arith.constant") is None  # of a constant one MLIR makes products
    return number is None or number not in _BY_PRODUCTS and number.is_integer()


def _is_not_negative(value: ir.Value) -> bool:
    """Whether ``value`` is no negative number for certain, read off the ops that compute it, and the constants among them."""
    number = _float(value)
    if number is not None:
        return number >= 0
    if any(_owner(value, name) for name in _NEVER_NEGATIVE):
        return True
    if any(_owner(value, name) for name in _LARGER):
        return any(_is_not_negative(operand) for operand in value.owner.operands)
    if any(_owner(value, name) for name in _SAME_SIGN):
        return _is_not_negative(value.owner.operands[0])
    squared = _owner(value, "arith.mulf")
    if squared is not None and squared.operands[0] == squared.operands[1]:
        return True
    found = range_of(Extents(), value)
    return not found.nan and found.low >= 0


def _float(value: ir.Value) -> float | None:
    """The number that ``value`` is; None where it is no constant float."""
    constant = _owner(value, "arith.constant")
    attribute = constant.attributes["value"] if constant is not None else None
    return ir.FloatAttr(attribute).value if isinstance(attribute, ir.FloatAttr) else None


def _owner(value: ir.Value, name: str) -> ir.Operation | None:
    """The op called ``name`` that computes ``value``; None where another one does."""
    owner = value.owner
    return owner.operation if not isinstance(owner, ir.Block) and owner.operation.name == name else None
