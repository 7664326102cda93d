"""Computes scalar ops that a target's code generation does not know by simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS

from ..chosen_ops import able_ops
from .float_forms import NOT_THE_SAME, float_form_of
from .index_forms import index_form_of
from .integer_forms import integer_form_of
from .narrow_constants import narrow_constants, wide_constants
from .scaled_floats import scaled_form_of


@register_pass
@dataclass(frozen=True)
class ExpandScalars(Pass):
    """Replaces, in the bodies of linalg ops, what some target computes no other way than by these forms.

    64-bit divisions, absolute values and bit counts: a Vulkan target without 64-bit integers has IREE compute all others in pairs of
    32 bits (IREE 3.13), and has no way to those from a constant tensor of i64, which becomes one of i32 where that holds it. Integer
    powers and complementary error functions: known to no target. Ops of the index dialect (a TOSA FFT has them), and booleans as
    signed floats: unknown on GPUs. Decimal logarithms, truncation, the larger or smaller of two halves, integers to bfloat16, and a
    few functions of f64: on llvm-cpu calls of functions that IREE does not link, by the processor's features. Conversions of small
    floats with a scale (`arith.scaling_extf`, `arith.scaling_truncf`): unknown to SPIR-V.

    Integers, truncation, scaled floats and the larger or smaller are the same in every bit; logarithms have one rounding more, an error function up
    to 1e-5 of itself (where that is below 1e-20).

    ``ops`` chooses source ops by index; without it, every op whose body has such an op. A chosen op without one is FIS128.
    """

    name: ClassVar[str] = "fissile-expand-scalars"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "math")
    contract: ClassVar[Contract] = Contract(requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS))
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with an op to expand")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        expand_scalars(able_ops(op, self.ops, self.name, why_not_expanded, _refusal))


def why_not_expanded(op: ir.Operation) -> str:
    """Why ``op`` has no scalar op to expand; empty where it has."""
    return "" if expandable(op) or _constants(op) else "every target computes what its body has"


def expand_scalars(ops: Iterable[ir.Operation]) -> None:
    """Expands all there is in the bodies of ``ops``, in place."""
    for op in ops:
        if _constants(op):
            narrow_constants(op)
        for scalar in expandable(op):
            with ir.InsertionPoint(scalar), scalar.location:
                scalar.results[0].replace_all_uses_with(_built(scalar))
            scalar.erase()


def _constants(op: ir.Operation) -> list[int]:
    return wide_constants(op) if op.name == "linalg.generic" else []


def _built(scalar: ir.Operation) -> ir.Value:
    """What ``scalar`` computes, by its form, at the insertion point."""
    if of_integers := integer_form_of(scalar):
        return of_integers(*scalar.operands)
    return (scaled_form_of(scalar) or float_form_of(scalar) or index_form_of(scalar))(scalar)


SELDOM_A_CALL = "math.floor"
"""Every processor's code generation has it, but LLVM makes a truncation of a magnitude that is rounded down and gets its sign again."""


def may_lack(op: ir.Operation) -> bool:
    """Whether ``op`` has a scalar op that a target may lack, of those that are rare."""
    return any(scalar.name != SELDOM_A_CALL for scalar in expandable(op))


def rounding_of(op: ir.Operation) -> str:
    """How far the numbers of ``op`` may change when it is expanded; empty: in no bit."""
    return ", ".join(
        sorted({f"{s.name}: {NOT_THE_SAME[s.name]}" for s in expandable(op) if s.name in NOT_THE_SAME})
    )


def expandable(op: ir.Operation) -> list[ir.Operation]:
    """The scalar ops in the regions of ``op`` that have a form."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if len(inner.results) == 1 and (
            integer_form_of(inner) or scaled_form_of(inner) or float_form_of(inner) or index_form_of(inner)
        ):
            found.append(inner)
        return ir.WalkResult.ADVANCE

    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                inner.operation.walk(visit)
    return found


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding(
        "FIS128", f"{op.name} has nothing to expand: {why}", subject=op.name, places=(place,) if place else ()
    )
