"""Keeps IREE from computing a tensor anywhere but where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.loops.loop_inits import is_constant
from fissile.passes.iree import ops as iree_ops
from fissile.passes.remedies.rebuilt_ops import elementwise


def held_copy(value: ir.Value, sizes: Iterable[ir.Value], by_dispatch: bool = False) -> ir.Value:
    """A copy of ``value`` behind a barrier. IREE does not see that what is behind a barrier is the tensor before it: without a copy it
    would update the one in place while the other is read. ``by_dispatch``: not a clone, which IREE may leave out."""
    known = list(sizes)
    return held(_copy(value, known, by_dispatch), known)


def _copy(value: ir.Value, sizes: list[ir.Value], by_dispatch: bool) -> ir.Value:
    """A dispatch copies a tensor from outside of the loop at the insertion point, and a constant: IREE 3.13 leaves out a clone of it, as if
    there were no other iteration (ElideAsyncCopies)."""
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    element = ir.RankedTensorType(value.type).element_type
    is_left_out = by_dispatch or block != ir.InsertionPoint.current.block or is_constant(value)
    zero = _zero(element) if is_left_out else None
    if zero is None:
        return ir.Operation.create(iree_ops.FLOW_TENSOR_CLONE, [value.type], [value, *sizes]).results[0]
    hidden = unknown_true()
    return elementwise(value, element, lambda one: arith.select(hidden, one, arith.constant(element, zero)))


def unknown_true() -> ir.Value:
    """True, by a value that no pass knows: nothing folds a choice by it."""
    flag = ir.IntegerType.get_signless(1)
    yes = arith.constant(flag, ir.IntegerAttr.get(flag, 1))
    return ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [flag], [yes]).results[0]


def _zero(element: ir.Type) -> ir.Attribute | None:
    if isinstance(element, ir.IntegerType) and element.is_signless:
        return ir.IntegerAttr.get(element, 0)
    return ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else None


def held(value: ir.Value, sizes: Iterable[ir.Value]) -> ir.Value:
    """``value``, whose dynamic ``sizes`` these are, behind a barrier at the insertion point: no dispatch is formed across it, nor is
    its producer copied into the consumer, or moved behind it."""
    behind = ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value]).results[0]
    if not (known := list(sizes)):
        return behind
    # The barrier hides what IREE knows of the sizes.
    return ir.Operation.create(iree_ops.FLOW_TENSOR_TIE_SHAPE, [value.type], [behind, *known]).results[0]
