"""Tensors that a loop starts with and that other ops use as well: IREE may schedule what computes them behind the loop."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .growing_loops import FOR

LOOPS = (FOR, "scf.while")
_VIEWS = ("tensor.cast", "tensor.expand_shape", "tensor.collapse_shape", iree_ops.FLOW_TENSOR_RESHAPE)
"""The same buffer under another type."""
_NOT_SCHEDULED = (
    "arith.constant",
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.HAL_TENSOR_IMPORT,
    iree_ops.UTIL_GLOBAL_LOAD,
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
)
"""What computes nothing on the device."""


@dataclass(frozen=True)
class LoopInit:
    """``loop`` takes the result of ``producer`` as operand number ``operand``, and others use that as well."""

    loop: ir.Operation
    operand: int
    producer: ir.Operation


def loop_inits(module: ir.Operation) -> list[LoopInit]:
    """All of ``module``, on tensors, in program order.

    IREE 3.13 puts an op into a partition (one command buffer) with an op that uses it, although a loop beside that one uses it, too,
    and the partition waits for the loop (partitionStreamableOpsReference lets consumers in again that it has ruled out). Tensors
    that a loop's body reads from outside are not among them.
    """
    found: list[LoopInit] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in LOOPS:
            for number, value in enumerate(op.operands):
                if isinstance(value.type, ir.RankedTensorType) and (producer := _shared(value, op)):
                    found.append(LoopInit(op, number, producer))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _shared(value: ir.Value, loop: ir.Operation) -> ir.Operation | None:
    """The op that computes ``value`` on the device, if anything but ``loop`` uses it."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    if isinstance(value.owner, ir.Block):
        return None
    producer = value.owner.operation
    if producer.name in _NOT_SCHEDULED or len(producer.regions) and producer.name.startswith("scf."):
        return None
    return producer if _used_beside(value, loop) else None


def _used_beside(value: ir.Value, loop: ir.Operation) -> bool:
    for use in value.uses:
        user = use.owner.operation
        if user.name in _VIEWS:
            if _used_beside(user.results[0], loop):
                return True
        elif user != loop:
            return True
    return False
