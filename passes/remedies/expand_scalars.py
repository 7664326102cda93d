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

from .chosen_ops import able_ops
from .scalar_forms import form_of


@register_pass
@dataclass(frozen=True)
class ExpandScalars(Pass):
    """Replaces 64-bit divisions, absolute values and bit counts, integer powers and decimal logarithms in the bodies of linalg ops.

    A Vulkan target without 64-bit integers has IREE compute them in pairs of 32 bits, all but these (IREE 3.13); integer powers
    are known to no target, and llvm-cpu leaves a decimal logarithm to a C library that IREE does not link. Integers are the same in
    every bit; a decimal logarithm has one rounding more.

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
    return "" if _expandable(op) else "its body has no 64-bit division, absolute value or bit count, integer power or decimal logarithm"


def expand_scalars(ops: Iterable[ir.Operation]) -> None:
    """Expands all there is in the bodies of ``ops``, in place."""
    for op in ops:
        for scalar in _expandable(op):
            with ir.InsertionPoint(scalar), scalar.location:
                scalar.results[0].replace_all_uses_with(form_of(scalar)(*scalar.operands))
            scalar.erase()


def _expandable(op: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if form_of(inner) is not None:
            found.append(inner)
        return ir.WalkResult.ADVANCE

    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                inner.operation.walk(visit)
    return found


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding("FIS128", f"{op.name} has nothing to expand: {why}", subject=op.name, places=(place,) if place else ())
