"""What rewritten scalar functions share: f32 constants, half precision computed in f32, and logarithms of numbers near 1 with all digits."""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir
from iree.compiler.dialects import arith, math

_NEAR = 0.3
"""Where the series has all digits of a float32; further away log(1 + v) has."""


def log_above_one(v: ir.Value) -> ir.Value:
    """log(1 + v) of an f32, for small ``v`` as 2 artanh(v / (2 + v)), by its series.

    Not by a factor v / ((1 + v) - 1), which puts back what is rounded away: a Vulkan driver may take that difference for v (lavapipe does).
    """
    ratio = arith.divf(v, arith.addf(v, number(2.0)))
    square, series = arith.mulf(ratio, ratio), number(1.0 / 9.0)
    for odd in (7.0, 5.0, 3.0, 1.0):
        series = arith.addf(arith.mulf(series, square), number(1.0 / odd))
    small = arith.mulf(arith.addf(ratio, ratio), series)
    plain = math.log(arith.addf(v, number(1.0)))
    is_small = arith.cmpf(arith.CmpFPredicate.OLT, math.absf(v), number(_NEAR))
    return arith.select(is_small, small, plain)


def number(value: float) -> ir.Value:
    """An f32 constant."""
    return arith.constant(ir.F32Type.get(), value)


def in_f32(function: ir.Operation, form: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """``form`` of the operand of ``function``, computed in f32 and rounded once to its type."""
    f32, given = ir.F32Type.get(), function.results[0].type
    x = function.operands[0] if given == f32 else arith.extf(f32, function.operands[0])
    result = form(x)
    return result if given == f32 else arith.truncf(given, result)
