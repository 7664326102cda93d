"""Command buffers that do not wait for storage, or for what another one writes into it.

IREE 3.13 lets a command buffer wait on the device for what the host waits for before it (ChainDependentAwaits): the host's wait takes the place
of what the command buffer waited for, and is not added to it. Where that was another command buffer, or the allocation of the results, it
may begin too early.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

_WAITING = (
    iree_ops.STREAM_TIMEPOINT_JOIN,
    iree_ops.STREAM_CMD_EXECUTE,
    iree_ops.STREAM_RESOURCE_ALLOCA,
    iree_ops.STREAM_RESOURCE_DEALLOCA,
)
"""Ops whose timepoint is reached only when those are that they wait for."""
_ACCESSES, _WRITES = "resource_accesses", 2
"""The attribute of a dispatch that says how it accesses each resource, and the bit of those that it writes."""

_Made = tuple[ir.Value, set[ir.Value]]
"""A timepoint, and the storage that is there, or is written, when it is reached."""


@dataclass(frozen=True)
class DroppedWait:
    """``execute`` uses storage, and does not wait for ``timepoints``: its allocation, or what writes it."""

    execute: ir.Operation
    timepoints: tuple[ir.Value, ...]


def dropped_waits(module: ir.Operation) -> list[DroppedWait]:
    """Those of ``module``, at a phase after its work is scheduled, in program order.

    What is allocated or written in the same block is looked at: an allocation waits for what the command buffer waited for before it lost that.
    """
    executes = ops_of(module, iree_ops.STREAM_CMD_EXECUTE)
    blocks = {hash(execute.block): execute.block for execute in executes}
    return [one for block in blocks.values() for one in _in_block(block)]


def _in_block(block: ir.Block) -> list[DroppedWait]:
    found: list[DroppedWait] = []
    on_host: set[ir.Value] = set()
    made: list[_Made] = []
    for op in (o.operation for o in block.operations):
        if op.name == iree_ops.STREAM_TIMEPOINT_AWAIT:
            on_host |= _reached(_waits(op))
        elif op.name == iree_ops.STREAM_RESOURCE_ALLOCA:
            made.append((_timepoint(op), {op.results[0]}))
        elif op.name == iree_ops.STREAM_CMD_EXECUTE:
            if missing := _missing(op, on_host, made):
                found.append(DroppedWait(op, missing))
            made.append((_timepoint(op), _written(op)))
    return found


def _missing(execute: ir.Operation, on_host: set[ir.Value], made: list[_Made]) -> tuple[ir.Value, ...]:
    """Looked for from the last one on: what that waits for is reached, too."""
    reached, found = on_host | _reached(_waits(execute)), []
    resources = _resources(execute)
    for timepoint, storage in reversed(made):
        if timepoint not in reached and not storage.isdisjoint(resources):
            reached |= _reached([timepoint])
            found.append(timepoint)
    return tuple(reversed(found))


def _written(execute: ir.Operation) -> set[ir.Value]:
    """The storage that the commands of ``execute`` write."""
    arguments = list(execute.regions[0].blocks[0].arguments)
    outside = dict(zip(arguments, _resources(execute), strict=True))
    found: set[ir.Value] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.update(outside[value] for value in _targets(op) if value in outside)
        return ir.WalkResult.ADVANCE

    execute.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _targets(op: ir.Operation) -> list[ir.Value]:
    """What a command writes. (Without the Python classes of IREE's dialects, which take time to load.)"""
    if op.name == iree_ops.STREAM_CMD_DISPATCH:
        accesses = [ir.IntegerAttr(one).value for one in ir.ArrayAttr(op.attributes[_ACCESSES])]
        return [value for value, access in zip(_resources(op), accesses, strict=True) if access & _WRITES]
    if op.name in (iree_ops.STREAM_CMD_COPY, iree_ops.STREAM_CMD_FILL):
        return _resources(op)[-1:]  # of a copy the second one, behind its source
    return []


def _resources(op: ir.Operation) -> list[ir.Value]:
    return [value for value in op.operands if str(value.type).startswith(iree_ops.RESOURCE_TYPE)]


def _reached(timepoints: list[ir.Value]) -> set[ir.Value]:
    """``timepoints``, and those that are reached before them."""
    seen = set(timepoints)
    for value in timepoints:
        if isinstance(value.owner, ir.Block) or value.owner.operation.name not in _WAITING:
            continue
        more = [one for one in _waits(value.owner.operation) if one not in seen]
        seen.update(more)
        timepoints += more
    return seen


def _waits(op: ir.Operation) -> list[ir.Value]:
    """The timepoints that ``op`` waits for."""
    return [value for value in op.operands if str(value.type) == iree_ops.TIMEPOINT_TYPE]


def _timepoint(op: ir.Operation) -> ir.Value:
    return next(value for value in op.results if str(value.type) == iree_ops.TIMEPOINT_TYPE)
