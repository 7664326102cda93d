"""Sums of booleans, which StableHLO defines as their disjunction."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import ADD, element_of, width_of


def is_boolean_sum(op: ir.Operation) -> bool:
    return width_of(element_of(op.results[0])) == 1


def boolean_sums(module: ir.Operation) -> list[ir.Operation]:
    """The additions of booleans, in bodies of reductions and scatters as well: IREE 3.13 makes an `arith.addi` of them, which is an exclusive or."""
    return [op for op in ops_of(module, ADD) if is_boolean_sum(op)]
