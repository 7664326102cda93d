"""What loops, branches and barriers pass on with sizes that only the run time knows: IREE finds no sizes for it."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..host.on_host import ops_on_host
from .growing_loops import FOR
from .while_operands import WHILE

IF = "scf.if"
SIZED = (FOR, IF, WHILE, iree_ops.UTIL_OPTIMIZATION_BARRIER)
"""What passes on tensors whose sizes are none of its operands."""


def unsized(module: ir.Operation) -> list[ir.Operation]:
    """The loops, branches and barriers of ``module`` that pass on tensors of dynamic sizes, in program order.

    IREE 3.13 reads such a size with tensor.dim, which it removes where the size is the same in each iteration of one loop. Another
    one stays, and CleanupTensorShapes rejects it.
    """
    return [op for op in ops_on_host(module) if op.name in SIZED and any(map(has_dynamic_sizes, _names(op)))]


def asked_for(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Those of ``ops`` of which the program reads the size of a tensor that is passed on; all of them where it reads none."""
    return [op for op in ops if any(map(_is_asked_for, _names(op)))] or ops


def _names(op: ir.Operation) -> list[ir.Value]:
    """What a tensor that ``op`` passes on is called inside of it and behind it."""
    inside = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
    return [*op.results, *inside]


def has_dynamic_sizes(value: ir.Value) -> bool:
    return (
        isinstance(value.type, ir.RankedTensorType) and not ir.RankedTensorType(value.type).has_static_shape
    )


def _is_asked_for(value: ir.Value) -> bool:
    return has_dynamic_sizes(value) and any(use.owner.operation.name == "tensor.dim" for use in value.uses)
