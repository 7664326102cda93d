"""Tensors that loops start with: IREE schedules some of them behind their loop, and finds no storage for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import is_defined_inside, ops_of
from fissile.passes.iree import ops as iree_ops

from ..lifetime.joins import ends_of
from .growing_loops import FOR

LOOPS = (FOR, "scf.while")
_VIEWS = (
    "tensor.cast",
    "tensor.expand_shape",
    "tensor.collapse_shape",
    iree_ops.FLOW_TENSOR_RESHAPE,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
)
"""The same buffer, under another type or not."""
_CONSTANTS = ("arith.constant", iree_ops.FLOW_TENSOR_CONSTANT, iree_ops.UTIL_GLOBAL_LOAD)
_NOT_SCHEDULED = (*_CONSTANTS, iree_ops.UTIL_OPTIMIZATION_BARRIER)
"""What computes nothing on the device."""


@dataclass(frozen=True)
class LoopInit:
    """``loop`` passes on a tensor from outside, operand number ``operand`` of ``user``: the loop itself, or an op that ends a block of
    its body. It is the result of ``producer``, or a block's argument (None)."""

    loop: ir.Operation
    user: ir.Operation
    operand: int
    producer: ir.Operation | None


def shared_inits(module: ir.Operation) -> list[LoopInit]:
    """Initial values that other ops use as well, in program order.

    IREE 3.13 puts an op into a partition (one command buffer) with an op that uses it, although a loop beside that one uses it, too,
    and the partition waits for the loop (partitionStreamableOpsReference lets consumers in again that it has ruled out). So it is where
    one dispatch computes the initial value and a tensor that other ops use. Tensors that a loop's body reads from outside are not
    among them. An argument is one of them: IREE may clone it, and schedule the clone.
    """
    return [
        LoopInit(loop, loop, number, producer)
        for loop, user, number, value in _passed_on(module)
        if user == loop and (producer := _shared(value, loop)) is not None
    ]


def passed_on(module: ir.Operation, constants: bool = False) -> list[LoopInit]:
    """What loops pass on from outside, in program order; constants only where they are asked for.

    IREE 3.13 gives each of a loop's tensors a storage class (constant, external, transient) from where it comes (RefineUsage). Where
    the loop's tensors change places, or one has another class in another place, the classes contradict each other, and the verifier
    rejects the loop. A copy is transient.
    """
    return [
        LoopInit(loop, user, number, None if isinstance(value.owner, ir.Block) else value.owner.operation)
        for loop, user, number, value in _passed_on(module)
        if constants or not is_constant(value)
    ]


def _passed_on(module: ir.Operation) -> list[tuple[ir.Operation, ir.Operation, int, ir.Value]]:
    """The tensors from outside that a loop starts with or that its body, or a branch, yields: loop, user, operand number, value."""
    return [
        (loop, user, number, value)
        for loop in ops_of(module, "scf.")
        if loop.name in (*LOOPS, "scf.if")
        for user in (loop, *ends_of(loop))
        for number, value in enumerate(user.operands)
        if isinstance(value.type, ir.RankedTensorType)
        and (user == loop or not is_defined_inside(value, loop))
    ]


def is_constant(value: ir.Value) -> bool:
    """Whether ``value`` is a constant, or a view of one."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in _CONSTANTS


def _shared(value: ir.Value, loop: ir.Operation) -> ir.Operation | None:
    """The op that computes ``value`` on the device, if anything but ``loop`` uses it."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    if isinstance(value.owner, ir.Block):
        return None
    producer = value.owner.operation
    if producer.name in _NOT_SCHEDULED or len(producer.regions) and producer.name.startswith("scf."):
        return None
    return producer if _used_beside(value, loop) or _fused_beside(producer, loop) else None


def _fused_beside(producer: ir.Operation, loop: ir.Operation) -> bool:
    """Whether IREE may fuse ``producer`` with what it is computed from, and another op uses one of these tensors: one dispatch has several
    results then."""
    chain, queue = [loop, producer], [producer]
    while queue:
        for operand in queue.pop().operands:
            if not isinstance(operand.type, ir.RankedTensorType):
                continue
            while not isinstance(operand.owner, ir.Block) and operand.owner.operation.name in _VIEWS:
                operand = operand.owner.operation.operands[0]
            owner = operand.owner
            if (
                isinstance(owner, ir.Block)
                or owner.operation.name != "linalg.generic"
                or owner.operation in chain
            ):
                continue
            chain.append(owner.operation)
            queue.append(owner.operation)
    values = [result for op in chain[1:] for result in op.results]
    return any(user not in chain for value in values for user in _users(value))


def _users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use ``value`` or a view of it."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in _VIEWS:
            yield from _users(user.results[0])
        else:
            yield user


def _used_beside(value: ir.Value, loop: ir.Operation) -> bool:
    return any(user != loop for user in _users(value))
