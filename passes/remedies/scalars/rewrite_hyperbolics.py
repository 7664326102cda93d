"""Hyperbolic functions and their inverses without differences of nearly equal numbers."""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from fissile.passes.analysis.scalars.hyperbolics import hyperbolics_in
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy
from .function_parts import in_f32, log_above_one, number

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

_LARGE = 1e9
"""Where x * x + 1 and x * x - 1 are x * x for every float32, and x * x is still finite."""
_LONG = 80.0
"""Where exp(-x) is nothing beside exp(x), which is still finite (up to 88.7)."""


@register_pass
@dataclass(frozen=True)
class RewriteHyperbolics(OpRemedy):
    """Computes, in the bodies of linalg ops, `math.sinh`, `math.cosh`, `math.asinh`, `math.acosh` and `math.atanh` of the magnitude, from
    log(1 + v) and exp(x) - 1.

    IREE 3.13 expands them to formulas that lose digits (FIS193). Within 1e-5 of the exact values, relative. Half precision is computed in
    f32 and rounded once. ``ops`` chooses source ops by index; without it, every op with such a function. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-rewrite-hyperbolics"
    order: ClassVar[int] = 48
    cures: ClassVar[tuple[str, ...]] = ("FIS193",)
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "computes hyperbolic functions and their inverses from log(1 + v) and exp(x) - 1"
    repairs: ClassVar[str] = (
        "asinh of negative numbers, and other hyperbolic functions that lose digits (not on AMD)"
    )
    numbers: ClassVar[str] = "closer to the exact values"
    counterpart: ClassVar[str] = "IREE's own expansions are those that lose digits; no flag changes that."
    done: ClassVar[str] = "computed hyperbolic functions in {ops} of the magnitude"
    advice: ClassVar[str] = "compute hyperbolic functions in {ops} of the magnitude"
    refusal: ClassVar[str] = "{op} has no hyperbolic function to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with a hyperbolic function")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if hyperbolics_in(op) else Match("its body has none of floats of 32 bits or less")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for function in hyperbolics_in(op):
                with ir.InsertionPoint(function), function.location:
                    function.results[0].replace_all_uses_with(in_f32(function, _FORMS[function.name]))
                function.erase()


def _sinh(x: ir.Value) -> ir.Value:
    size = math.absf(x)
    grown = math.expm1(size)
    short = arith.mulf(number(0.5), arith.addf(grown, arith.divf(grown, arith.addf(grown, number(1.0)))))
    return math.copysign(_where(size, _LONG, _half_exp(size), short), x)


def _cosh(x: ir.Value) -> ir.Value:
    size = math.absf(x)
    both = arith.addf(math.exp(size), math.exp(arith.negf(size)))
    return _where(size, _LONG, _half_exp(size), arith.mulf(number(0.5), both))


def _asinh(x: ir.Value) -> ir.Value:
    size = math.absf(x)
    square = arith.mulf(size, size)
    root = math.sqrt(arith.addf(square, number(1.0)))
    above = arith.addf(size, arith.divf(square, arith.addf(root, number(1.0))))
    return math.copysign(_where(size, _LARGE, _log_of_double(size), log_above_one(above)), x)


def _acosh(x: ir.Value) -> ir.Value:
    above = arith.subf(x, number(1.0))
    root = math.sqrt(arith.mulf(above, arith.addf(above, number(2.0))))
    area = _where(x, _LARGE, _log_of_double(x), log_above_one(arith.addf(above, root)))
    is_outside = arith.cmpf(arith.CmpFPredicate.OLT, x, number(1.0))
    return arith.select(is_outside, number(numbers.nan), area)


def _atanh(x: ir.Value) -> ir.Value:
    size = math.absf(x)
    above = arith.divf(arith.addf(size, size), arith.subf(number(1.0), size))
    return math.copysign(arith.mulf(number(0.5), log_above_one(above)), x)


def _log_of_double(x: ir.Value) -> ir.Value:
    return arith.addf(math.log(x), number(numbers.log(2.0)))


def _half_exp(x: ir.Value) -> ir.Value:
    """exp(x) / 2 where exp(x) itself may be too large."""
    root = math.exp(arith.mulf(x, number(0.5)))
    return arith.mulf(arith.mulf(root, number(0.5)), root)


def _where(value: ir.Value, border: float, above: ir.Value, below: ir.Value) -> ir.Value:
    is_above = arith.cmpf(arith.CmpFPredicate.OGE, value, number(border))
    return arith.select(is_above, above, below)


_FORMS: dict[str, Callable[[ir.Value], ir.Value]] = {
    "math.sinh": _sinh,
    "math.cosh": _cosh,
    "math.asinh": _asinh,
    "math.acosh": _acosh,
    "math.atanh": _atanh,
}
