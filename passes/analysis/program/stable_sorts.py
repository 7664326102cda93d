"""Sorts that must keep the order of equal keys, and what IREE makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of

STABLEHLO_SORT, CHLO_TOP_K = "stablehlo.sort", "chlo.top_k"
TOPK = iree_ops.LINALG_EXT_TOPK
STRICT = {
    "arith.cmpi": {2: 3, 4: 5, 6: 7, 8: 9},
    "arith.cmpf": {2: 3, 4: 5, 9: 10, 11: 12},
}
"""Comparison -> its predicates that are false of equal numbers, and those that are true of them as well and otherwise the same: slt
and sle, sgt and sge, ult and ule, ugt and uge; ogt and oge, olt and ole, ugt and uge, ult and ule."""


@dataclass(frozen=True)
class UnstableSort:
    """``op`` is an `iree_linalg_ext.sort` that may exchange equal keys, or a topk that puts the last of equal values first."""

    op: ir.Operation
    place: Place | None


def is_marked_stable(op: ir.Operation, name: str) -> bool:
    """Whether ``op`` of the input, called ``name``, is a sort of several tensors that is marked as stable, or a chlo.top_k, which is stable
    by its definition. IREE's import drops both."""
    if name == STABLEHLO_SORT and len(op.operands) > 1 and "is_stable" in op.attributes:
        return ir.BoolAttr(op.attributes["is_stable"]).value
    return name == CHLO_TOP_K


def unstable_sorts(module: ir.Operation) -> list[UnstableSort]:
    """Sorts of several tensors whose comparator is not known to hold of equal keys, and topks whose comparator does, in program order.

    IREE 3.13 sorts a row by sweeps that exchange two neighbours unless the comparator holds of them (emitBubbleSortSweep): where it is
    false of equal keys, as a strict order is, each sweep exchanges those too. A topk inserts one value after the other before the
    first one that the comparator does not put ahead of it: where it holds of equal values, before those.
    """
    found: list[UnstableSort] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.LINALG_EXT_SORT and len(op.results) > 1 and not _holds_of_equal_keys(op):
            found.append(UnstableSort(op, place_of(op)))
        elif op.name == TOPK and len(op.results) == 2 and _can_reverse(op) and _holds_of_equal_keys(op):
            found.append(UnstableSort(op, place_of(op)))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _can_reverse(topk: ir.Operation) -> bool:
    """Whether its rows have a static size; of other sizes IREE's import makes a sort."""
    values = ir.RankedTensorType(topk.operands[0].type)
    return not values.is_dynamic_dim(ir.IntegerAttr(topk.attributes["dimension"]).value)


def comparison_of(op: ir.Operation) -> ir.Operation | None:
    """The one comparison that the comparator of a sort consists of; None where it is more than that."""
    inner = [o.operation for o in op.regions[0].blocks[0].operations]
    return inner[0] if len(inner) == 2 and inner[0].name in STRICT else None


def _holds_of_equal_keys(op: ir.Operation) -> bool:
    comparison = comparison_of(op)
    if comparison is None:
        return False
    predicate = ir.IntegerAttr(comparison.attributes["predicate"]).value
    return predicate in STRICT[comparison.name].values()
