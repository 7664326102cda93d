"""Places at which the host has to submit its work, so that IREE keeps the order of the loads and stores of globals.

IREE 3.13 puts the device's work of a block that nothing with a side effect stands in, across the ops of the host between, into one submission,
where its last op was (ScheduleExecution). It then sorts the block: an op of the host that needs a result of the submission goes behind it,
and those that need none keep their place. So a branch, a call or a store that waits for the device comes behind a load that stood behind it.

Where work of the device always starts anew behind an op of the host that waits for some, each op stands behind what it needs already, and
none is moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..host.on_host import HOST_REGIONS
from ..program.private_calls import FUNCTIONS
from .accesses import Accesses, GlobalAccesses, mutable_globals

_BODIES = (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)
_DEVICE = (iree_ops.FLOW_DISPATCH, iree_ops.FLOW_TENSOR_OPS, "tensor.")
_NO_WORK = ("arith.constant", iree_ops.HAL_TENSOR_IMPORT, iree_ops.FLOW_TENSOR_CONSTANT)
"""What has a tensor, and becomes an op of the device where the tensor is used, if at all."""


@dataclass(frozen=True)
class Submissions:
    """``before``: ops before which what stands in front of them in their block is to be submitted. ``reads``: ops on the host that read a
    tensor of a submission before their own; IREE would read it in that submission, and move that to the reader."""

    before: tuple[ir.Operation, ...] = ()
    reads: tuple[ir.Operation, ...] = ()


def host_blocks(module: ir.Operation) -> Iterator[ir.Block]:
    """Blocks of ops on the host: of functions, and of the loops and branches in them."""
    for op in module.regions[0].blocks[0]:
        if op.operation.name in _BODIES:
            yield from _blocks(op.operation)


def _blocks(op: ir.Operation) -> Iterator[ir.Block]:
    for region in op.regions:
        for block in region:
            yield block
            for one in block:
                if one.operation.name in HOST_REGIONS:
                    yield from _blocks(one.operation)


def submissions(module: ir.Operation) -> Submissions:
    """Those of ``module`` at phase flow. None where no order counts, and where no op of the host can be late."""
    names = mutable_globals(module)
    if not names:
        return Submissions()
    accesses = GlobalAccesses.of_module(module)
    before: list[ir.Operation] = []
    reads: list[ir.Operation] = []
    for block in host_blocks(module):
        ops = [op.operation for op in block]
        accessed = [accesses.of(op).only(names) for op in ops]
        if any(accessed):
            places = _places(ops, accessed)
            before += [ops[i] for i in places]
            reads += _reads_across(ops, places)
    return Submissions(tuple(before), tuple(reads))


def _places(ops: list[ir.Operation], accessed: list[Accesses]) -> list[int]:
    needs = _needs(ops)
    counts = _may_delay(ops, accessed, needs)
    if not any(counts):
        return []
    found: list[int] = []
    waiting: set[int] = set()
    is_late = False
    for i, op in enumerate(ops):
        has_work = _may_have_work(op)
        if has_work and is_late:
            found.append(i)
            waiting, is_late = set(), False
        if _is_of_device(op) or (has_work and op.name == iree_ops.UTIL_GLOBAL_LOAD):
            waiting.add(i)
        elif has_work or needs[i] & waiting:
            waiting.add(i)
            is_late = is_late or counts[i]
    return found


def _needs(ops: list[ir.Operation]) -> list[set[int]]:
    """For each op the positions of ops of the block whose results it uses, its regions included."""
    position = {hash(op): i for i, op in enumerate(ops)}
    needs: list[set[int]] = []
    for op in ops:
        used: set[int] = set()

        def visit(one: ir.Operation, used: set[int] = used) -> ir.WalkResult:
            for value in one.operands:
                if not isinstance(value.owner, ir.Block):
                    used.add(position.get(hash(value.owner.operation), -1))
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        needs.append(used - {-1})
    return needs


def _may_delay(ops: list[ir.Operation], accessed: list[Accesses], needs: list[set[int]]) -> list[bool]:
    """Whether what is in the wrong order if an op is late: it, or one that needs it, and a later op access the same global."""
    counts = [False] * len(ops)
    for i in reversed(range(len(ops))):
        if ops[i].name != iree_ops.UTIL_GLOBAL_LOAD and accessed[i]:
            counts[i] = counts[i] or any(accessed[i].conflict(one) for one in accessed[i + 1 :])
        if counts[i]:
            for j in needs[i]:
                counts[j] = True
    return counts


def _is_of_device(op: ir.Operation) -> bool:
    return op.name.startswith(_DEVICE) and op.name != iree_ops.FLOW_TENSOR_LOAD


def _may_have_work(op: ir.Operation) -> bool:
    """Whether ``op`` is work of the device, or IREE may place some beside it: a copy of a tensor that it takes or makes."""
    if op.name in _NO_WORK:
        return False
    return _is_of_device(op) or any(
        isinstance(value.type, ir.RankedTensorType) for value in (*op.operands, *op.results)
    )


def _reads_across(ops: list[ir.Operation], places: list[int]) -> list[ir.Operation]:
    part = {hash(op): sum(place <= i for place in places) for i, op in enumerate(ops)}
    found = []
    for op in ops if places else ():
        if op.name == iree_ops.FLOW_TENSOR_LOAD and not isinstance(op.operands[0].owner, ir.Block):
            made = part.get(hash(op.operands[0].owner.operation), -1)
            if 0 <= made < part[hash(op)]:
                found.append(op)
    return found
