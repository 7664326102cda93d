"""Arctangents of two numbers with the angles of the points that have no slope."""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from fissile.passes.analysis.scalars.arctangents import arctangents_in, ordinate_and_abscissa
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class GuardArctangents(OpRemedy):
    """Replaces, in the bodies of linalg ops, `math.atan2` by its magnitude with the sign of y, and gives the angles of two zeros and two infinities.

    IREE 3.13 computes the angle from y / x, which is NaN there (FIS159). The angles are those of C's atan2. Half precision is computed in
    f32 and rounded once. ``ops`` chooses source ops by index; without it, every op with an arctangent of two numbers. A chosen op without
    one is FIS114.
    """

    name: ClassVar[str] = "fissile-guard-arctangents"
    order: ClassVar[int] = 43
    cures: ClassVar[tuple[str, ...]] = ("FIS159",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "gives `math.atan2` the angles of two zeros and of two infinities, and the sign of y"
    )
    repairs: ClassVar[str] = "atan2(0, 0), which is NaN (not on AMD)"
    numbers: ClassVar[str] = "f32: bit-identical at other points. f16, bf16: computed in f32, rounded once"
    counterpart: ClassVar[str] = (
        "MLIR's expansion of `math.atan2` is the one with the error; no flag changes that."
    )
    done: ClassVar[str] = "computed arctangents in {ops} with the angles of (0, 0) and of infinite points"
    advice: ClassVar[str] = "compute arctangents in {ops} with the angles of (0, 0) and of infinite points"
    refusal: ClassVar[str] = "{op} has no arctangent to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all with an arctangent of two numbers"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if arctangents_in(op) else Match("its body has none of two numbers of 32 bits or less")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for angle in arctangents_in(op):
                with ir.InsertionPoint(angle), angle.location:
                    angle.results[0].replace_all_uses_with(_angle(angle))
                angle.erase()


def _angle(op: ir.Operation) -> ir.Value:
    f32 = ir.F32Type.get()
    given = op.results[0].type
    y, x = (one if one.type == f32 else arith.extf(f32, one) for one in ordinate_and_abscissa(op))
    size = math.absf(math.atan2(y, x))
    is_behind = _compare("OLT", math.copysign(_number(1.0), x), 0.0)
    size = arith.select(_both(y, x, 0.0), _either(is_behind, numbers.pi, 0.0), size)
    infinite = _both(math.absf(y), math.absf(x), numbers.inf)
    size = arith.select(infinite, _either(is_behind, 0.75 * numbers.pi, 0.25 * numbers.pi), size)
    result = math.copysign(size, y)
    return result if given == f32 else arith.truncf(given, result)


def _number(value: float) -> ir.Value:
    return arith.constant(ir.F32Type.get(), value)


def _compare(predicate: str, value: ir.Value, number: float) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate[predicate], value, _number(number))


def _both(y: ir.Value, x: ir.Value, number: float) -> ir.Value:
    return arith.andi(_compare("OEQ", y, number), _compare("OEQ", x, number))


def _either(condition: ir.Value, yes: float, no: float) -> ir.Value:
    return arith.select(condition, _number(yes), _number(no))
