"""Keeps IREE from computing a tensor anywhere but where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops


def held(value: ir.Value, sizes: Iterable[ir.Value]) -> ir.Value:
    """``value``, whose dynamic ``sizes`` these are, behind a barrier at the insertion point: no dispatch is formed across it, nor is
    its producer copied into the consumer, or moved behind it."""
    behind = ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value]).results[0]
    if not (known := list(sizes)):
        return behind
    # The barrier hides what IREE knows of the sizes.
    return ir.Operation.create(iree_ops.FLOW_TENSOR_TIE_SHAPE, [value.type], [behind, *known]).results[0]
