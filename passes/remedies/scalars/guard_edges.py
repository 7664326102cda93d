"""Functions whose edges are numbers of their own."""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from fissile.passes.analysis.scalars.edges import edges_in
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy
from .function_parts import in_f32, log_above_one, number

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class GuardEdges(OpRemedy):
    """Chooses, in the bodies of linalg ops, the infinite cube root of infinity and NaN for `math.acos` and `math.asin` outside of -1 … 1, and
    computes `math.log1p` of small numbers by a series.

    IREE 3.13 computes NaN for the first, and SPIR-V has no function for the others (FIS227). All other cube roots and arcs keep every bit. Half
    precision is computed in f32 and rounded once. ``spirv=false`` leaves all but cube roots alone, as other targets have them. ``ops`` chooses source
    ops by index; without it, every op with such a function. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-guard-edges"
    order: ClassVar[int] = 37
    cures: ClassVar[tuple[str, ...]] = ("FIS227",)
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "chooses the numbers of cube roots, acos and asin at the edges of their range, and computes log1p near 0 by a series"
    )
    repairs: ClassVar[str] = (
        "the cube root of infinity (not on AMD), and in SPIR-V acos and asin outside of their range and log1p near 0"
    )
    numbers: ClassVar[str] = "closer to the exact values"
    counterpart: ClassVar[str] = "IREE's own expansions have these edges; no flag changes that."
    done: ClassVar[str] = "chose the numbers of functions in {ops} at their edges"
    advice: ClassVar[str] = "choose the numbers of functions in {ops} at their edges"
    refusal: ClassVar[str] = "{op} has no function to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a function")
    spirv: bool = option(
        True, "whether the code is SPIR-V, in which acos, asin and log1p have such edges, too"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if edges_in(op, self.spirv) else Match("its body has none of floats of 32 bits or less")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for function in edges_in(op, self.spirv):
                with ir.InsertionPoint(function), function.location:
                    function.results[0].replace_all_uses_with(in_f32(function, _FORMS[function.name]))
                function.erase()


def _root(x: ir.Value) -> ir.Value:
    is_finite = arith.cmpf(arith.CmpFPredicate.ONE, math.absf(x), number(numbers.inf))
    return arith.select(is_finite, math.cbrt(arith.select(is_finite, x, number(1.0))), x)


def _arc(function: Callable[[ir.Value], ir.Value]) -> Callable[[ir.Value], ir.Value]:
    def within(x: ir.Value) -> ir.Value:
        is_inside = arith.cmpf(arith.CmpFPredicate.OLE, math.absf(x), number(1.0))
        angle = function(arith.select(is_inside, x, number(0.0)))
        return arith.select(is_inside, angle, number(numbers.nan))

    return within


_FORMS: dict[str, Callable[[ir.Value], ir.Value]] = {
    "math.cbrt": _root,
    "math.acos": _arc(math.acos),
    "math.asin": _arc(math.asin),
    "math.log1p": log_above_one,
}
