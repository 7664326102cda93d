"""Which extremes of TOSA may be those of infinite elements alone: what their operand is made of says that most are not."""

from __future__ import annotations

import math

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.analysis.legality.isolation import producer_of

REDUCTIONS = ("tosa.reduce_max", "tosa.reduce_min")
EXTREMES = (*REDUCTIONS, "tosa.max_pool2d")
_BOUNDED = ("tosa.sigmoid", "tosa.tanh", "tosa.erf", "tosa.sin", "tosa.cos")
_NOT_NEGATIVE = ("tosa.abs", "tosa.exp")
_ANY_OPERAND_BOUNDS = {"tosa.maximum": False, "tosa.minimum": True}
"""Op -> the side on which one bounded operand is enough."""
_MOVING = {
    "tosa.avg_pool2d": 1, "tosa.concat": None, "tosa.gather": 1, "tosa.identity": 1, "tosa.max_pool2d": 1, "tosa.reduce_max": 1, "tosa.reduce_min": 1,
    "tosa.reshape": 1, "tosa.reverse": 1, "tosa.slice": 1, "tosa.tile": 1, "tosa.transpose": 1,
}  # fmt: skip
"""Ops whose results lie between the elements of operands -> how many of the operands, from the first on (None: all)."""
_DEEPEST = 8


def may_be_infinite(op: ir.Operation) -> bool:
    """Whether each element that ``op`` takes an extreme of may be infinite, on the side that IREE starts at a finite number."""
    value = op.operands[0]
    if not isinstance(value.type, ir.RankedTensorType) or not _is_float(value):
        return False
    return not _is_bounded(value, above=op.name == REDUCTIONS[1])


def _is_float(value: ir.Value) -> bool:
    return isinstance(ir.RankedTensorType(value.type).element_type, ir.FloatType)


def _is_bounded(value: ir.Value, above: bool, depth: int = _DEEPEST) -> bool:
    """Whether no element of ``value`` is infinite: positive if ``above``, else negative."""
    op = producer_of(value)
    if not depth or op is None:
        return False
    if op.name == "tosa.clamp":
        bound = attribute(op, "max_val" if above else "min_val")
        return isinstance(bound, ir.FloatAttr) and math.isfinite(bound.value)
    if op.name == "tosa.cast":
        source = ir.RankedTensorType(op.operands[0].type).element_type
        return isinstance(source, ir.IntegerType)
    if op.name in _BOUNDED or (op.name in _NOT_NEGATIVE and not above):
        return True
    inner = (
        [_is_bounded(one, above, depth - 1) for one in op.operands] if op.name in _ANY_OPERAND_BOUNDS else []
    )
    if inner:
        return any(inner) if _ANY_OPERAND_BOUNDS[op.name] is above else all(inner)
    if op.name in _MOVING:
        return all(_is_bounded(one, above, depth - 1) for one in list(op.operands)[: _MOVING[op.name]])
    return False
