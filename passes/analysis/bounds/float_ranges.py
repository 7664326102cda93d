"""How large floats are that become indices: intervals through casts, arithmetic, rounding and clamps.

A resize computes its indices in floats from the loops' numbers. Each end of an interval is widened by what one rounding may
change, unless the result is exact in the type; devices divide less exactly than the standard asks, and are given more room.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.attributes import attribute

from ..dispatch.structure import loop_extents, structure_of
from . import element_values
from .shaped_values import SAME_ELEMENTS

if TYPE_CHECKING:
    from .extents import Extents

_PRODUCTS = (
    "linalg.matmul",
    "linalg.batch_matmul",
    "linalg.matvec",
    "linalg.vecmat",
    "linalg.batch_matvec",
    "linalg.dot",
)
MAX_DEPTH = 40
_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
"""Bits of the significand."""


@dataclass(frozen=True)
class FloatRange:
    """``low`` to ``high``, or NaN where ``nan``."""

    low: float
    high: float
    nan: bool = False

    def join(self, other: FloatRange) -> FloatRange:
        return FloatRange(min(self.low, other.low), max(self.high, other.high), self.nan or other.nan)


UNKNOWN = FloatRange(-math.inf, math.inf, True)


def range_of(extents: Extents, value: ir.Value, depth: int = 0) -> FloatRange:
    """The range of a scalar float of a structured op's body, or of the host."""
    if depth > MAX_DEPTH:
        return UNKNOWN
    if isinstance(value.owner, ir.Block):
        return _of_argument(extents, value, depth + 1)
    op = value.owner.operation
    if op.name in _MIN_MAX:
        return _min_max(op.name, *(range_of(extents, v, depth + 1) for v in op.operands))
    if op.name == "arith.constant":
        return constant_range(op)
    if op.name in ("arith.sitofp", "arith.uitofp"):
        return _from_integer(extents, op)
    if op.name == "arith.select":
        return _select(extents, op, depth)
    if op.name == "tensor.extract":
        return _of_element(extents, op.operands[0], depth + 1)
    rule = _RULES.get(op.name)
    if rule is None or isinstance(value.type, (ir.ShapedType, ir.VectorType)):
        return UNKNOWN
    parts = [range_of(extents, v, depth + 1) for v in op.operands]
    if any(p.nan or math.isinf(p.low) or math.isinf(p.high) for p in parts):
        return UNKNOWN
    return rule(value.type, *parts)


def _of_argument(extents: Extents, argument: ir.Value, depth: int) -> FloatRange:
    read = element_values.operand_of(argument)
    if read is None:
        return UNKNOWN
    operand = read[1]
    if not isinstance(operand.type, ir.ShapedType):
        return range_of(extents, operand, depth + 1)
    return _of_element(extents, operand, depth + 1)


def _of_element(extents: Extents, tensor: ir.Value, depth: int) -> FloatRange:
    """The range of any element of a float tensor."""
    if depth > MAX_DEPTH or isinstance(tensor.owner, ir.Block):
        return UNKNOWN
    op = tensor.owner.operation
    if op.name == "arith.constant":
        return constant_range(op)
    if op.name in SAME_ELEMENTS:
        return _of_element(extents, op.operands[0], depth + 1)
    if op.name == "linalg.fill":
        return range_of(extents, op.operands[0], depth + 1)
    if element_values.has_body_of_elements(op) and element_values.all_parallel(op):
        return range_of(extents, element_values.yielded_by(op, ir.OpResult(tensor).result_number), depth + 1)
    if op.name in _PRODUCTS:
        return _of_product(extents, op, depth)
    return UNKNOWN


def _of_product(extents: Extents, op: ir.Operation, depth: int) -> FloatRange:
    """The range of any element of a product of matrices: of positions and frequencies, for example."""
    structure = structure_of(op)
    if structure is None or len(op.operands) != 3:
        return UNKNOWN
    sizes = loop_extents(op, structure)
    terms = [size for size, parallel in zip(sizes, structure.parallel, strict=True) if not parallel]
    left, right, init = (_of_element(extents, operand, depth + 1) for operand in op.operands)
    if None in terms or UNKNOWN in (left, right, init):
        return UNKNOWN
    count = math.prod(size or 0 for size in terms)
    ends = [x * y * count for x in (left.low, left.high) for y in (right.low, right.high)]
    element = ir.ShapedType(op.results[0].type).element_type
    return _within(element, min(ends) + init.low, max(ends) + init.high)


def constant_range(op: ir.Operation) -> FloatRange:
    from .constant_elements import array_of

    if not isinstance(op.results[0].type, ir.ShapedType):
        value = attribute(op, "value")
        if not isinstance(value, ir.FloatAttr):
            return UNKNOWN
        return FloatRange(value.value, value.value, False) if math.isfinite(value.value) else UNKNOWN
    found = array_of(op)
    if found is None or not found.size or found.dtype.kind != "f":
        return UNKNOWN
    low, high = float(found.min()), float(found.max())
    return FloatRange(low, high) if math.isfinite(low) and math.isfinite(high) else UNKNOWN


def _from_integer(extents: Extents, op: ir.Operation) -> FloatRange:
    source = op.operands[0]
    if not isinstance(source.type, ir.IntegerType):
        return UNKNOWN
    low, high = extents.bounds_of(extents.value(source))
    if op.name == "arith.uitofp" and low < 0:
        low, high = 0, (1 << source.type.width) - 1
    return _rounded(op.results[0].type, float(low), float(high))


def _rounded(type_: ir.Type, low: float, high: float, exact: bool = True) -> FloatRange:
    """[low, high] after one rounding to ``type_``; ``exact`` where a result that the type has is that result on every device."""
    bits = _PRECISION.get(str(type_))
    if bits is None or not (math.isfinite(low) and math.isfinite(high)):
        return UNKNOWN
    largest = 65504.0 if str(type_) == "f16" else 3e38 if bits < 53 else 1e308
    room = 2.0 ** (3 - bits)
    if not (exact and _fits(low, bits)):
        low -= abs(low) * room
    if not (exact and _fits(high, bits)):
        high += abs(high) * room
    return FloatRange(low, high) if -largest <= low and high <= largest else UNKNOWN


def _fits(value: float, bits: int) -> bool:
    """Whether a float with ``bits`` bits has this value, by its significand."""
    return (math.frexp(value)[0] * 2.0**bits).is_integer()


def _corners(
    combine: Callable[[float, float], float], exact: Callable[[FloatRange, FloatRange], bool]
) -> Callable:
    def rule(type_: ir.Type, a: FloatRange, b: FloatRange) -> FloatRange:
        ends = [combine(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return _rounded(type_, min(ends), max(ends), exact(a, b))

    return rule


def _always(_a: FloatRange, _b: FloatRange) -> bool:
    return True


def _divide(type_: ir.Type, a: FloatRange, b: FloatRange) -> FloatRange:
    if b.low <= 0 <= b.high:
        return UNKNOWN
    ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    power_of_two = b.low == b.high and math.frexp(abs(b.low))[0] == 0.5
    return _rounded(type_, min(ends), max(ends), power_of_two)


def _monotone(function: Callable[[float], float]) -> Callable:
    return lambda type_, a: _rounded(type_, function(a.low), function(a.high))


def _fma(type_: ir.Type, a: FloatRange, b: FloatRange, c: FloatRange) -> FloatRange:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _rounded(type_, min(ends) + c.low, max(ends) + c.high, False)


def _absolute(type_: ir.Type, a: FloatRange) -> FloatRange:
    low = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return FloatRange(low, max(abs(a.low), abs(a.high)))


_LOOSE = 0.01
"""Relative: much more than any device's elementary function is off."""


def _loosely(low: float, high: float) -> FloatRange:
    """[low, high] of an elementary function, in which devices differ."""
    found = FloatRange(low - abs(low) * _LOOSE, high + abs(high) * _LOOSE)
    return found if math.isfinite(found.low) and math.isfinite(found.high) else UNKNOWN


def _power(_type: ir.Type, a: FloatRange, b: FloatRange) -> FloatRange:
    if a.low <= 0:
        return UNKNOWN
    try:
        ends = [x**y for x in (a.low, a.high) for y in (b.low, b.high)]
    except OverflowError:
        return UNKNOWN
    return _within(_type, min(ends), max(ends))


def _grows(function: Callable[[float], float], least: float = -math.inf) -> Callable:
    """``function`` grows, and is defined above ``least``."""

    def rule(type_: ir.Type, a: FloatRange) -> FloatRange:
        if a.low <= least:
            return UNKNOWN
        try:
            return _within(type_, function(a.low), function(a.high))
        except OverflowError:
            return UNKNOWN

    return rule


def _within(type_: ir.Type, low: float, high: float) -> FloatRange:
    """`_loosely`, where the type has numbers as large as that."""
    return UNKNOWN if _rounded(type_, low, high, False) == UNKNOWN else _loosely(low, high)


def _inverse_root(type_: ir.Type, a: FloatRange) -> FloatRange:
    return UNKNOWN if a.low <= 0 else _within(type_, 1 / math.sqrt(a.high), 1 / math.sqrt(a.low))


def _unit(_type: ir.Type, _a: FloatRange) -> FloatRange:
    return _loosely(-1.0, 1.0)


_RULES: dict[str, Callable[..., FloatRange]] = {
    "arith.addf": _corners(lambda x, y: x + y, _always),
    "arith.subf": _corners(lambda x, y: x - y, _always),
    "arith.mulf": _corners(lambda x, y: x * y, _always),
    "arith.divf": _divide,
    "arith.negf": lambda type_, a: FloatRange(-a.high, -a.low),
    "arith.extf": lambda type_, a: a,
    "arith.truncf": _monotone(lambda x: x),
    "math.floor": _monotone(lambda x: float(math.floor(x))),
    "math.ceil": _monotone(lambda x: float(math.ceil(x))),
    "math.trunc": _monotone(lambda x: float(math.trunc(x))),
    "math.round": _monotone(lambda x: math.copysign(math.floor(abs(x) + 0.5), x)),
    "math.roundeven": _monotone(lambda x: float(round(x))),
    "math.absf": _absolute,
    "math.fma": _fma,
    "math.powf": _power,
    "math.exp": _grows(math.exp),
    "math.exp2": _grows(lambda x: 2.0**x),
    "math.log": _grows(math.log, 0.0),
    "math.sqrt": _grows(math.sqrt, 0.0),
    "math.rsqrt": _inverse_root,
    "math.sin": _unit,
    "math.cos": _unit,
    "math.tanh": _unit,
    "math.erf": _unit,
}

_MIN_MAX = {
    "arith.maximumf": (max, True),
    "arith.minimumf": (min, True),
    "arith.maxnumf": (max, False),
    "arith.minnumf": (min, False),
}
"""The function, and whether one NaN makes the result NaN."""


def _min_max(name: str, a: FloatRange, b: FloatRange) -> FloatRange:
    choose, spreads = _MIN_MAX[name]
    low, high = choose(a.low, b.low), choose(a.high, b.high)
    if spreads:
        return FloatRange(low, high, a.nan or b.nan)
    for one, other in ((a, b), (b, a)):  # where one is NaN, the other is the result
        if one.nan:
            low, high = min(low, other.low), max(high, other.high)
    return FloatRange(low, high, a.nan and b.nan)


_BELOW, _ABOVE = (4, 5, 11, 12), (2, 3, 9, 10)
"""arith.cmpf's predicates olt, ole, ult, ule and ogt, oge, ugt, uge. From 8 on NaN makes them true."""


def _select(extents: Extents, op: ir.Operation, depth: int) -> FloatRange:
    condition, yes, no = op.operands
    first, second = range_of(extents, yes, depth + 1), range_of(extents, no, depth + 1)
    compare = None if isinstance(condition.owner, ir.Block) else condition.owner.operation
    if compare is not None and compare.name == "arith.cmpf" and set(compare.operands) == {yes, no}:
        predicate = ir.IntegerAttr(compare.attributes["predicate"]).value
        if predicate in (*_BELOW, *_ABOVE):
            least = (predicate in _BELOW) == (compare.operands[0] == yes)
            choose = min if least else max
            taken = first if predicate >= 8 else second  # where one is NaN
            low, high = choose(first.low, second.low), choose(first.high, second.high)
            if first.nan or second.nan:
                low, high = min(low, taken.low), max(high, taken.high)
            return FloatRange(low, high, taken.nan)
    return first.join(second)


def integer_range(extents: Extents, op: ir.Operation) -> tuple[int, int] | None:
    """The integers that `arith.fptosi` or `arith.fptoui` makes; None where a value may not fit the type, or be NaN."""
    found, width = range_of(extents, op.operands[0]), getattr(op.results[0].type, "width", None)
    if width is None or found.nan or math.isinf(found.low) or math.isinf(found.high):
        return None
    low, high = math.trunc(found.low), math.trunc(found.high)
    signed = op.name == "arith.fptosi"
    ends = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << (width - 1)) - 1)
    return (low, high) if ends[0] <= low and high <= ends[1] else None
