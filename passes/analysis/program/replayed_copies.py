"""Command buffers that IREE's Vulkan runtime replays with the buffers of an earlier call."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from .devices import has_device
from .private_calls import FUNCTIONS

_REBOUND = (iree_ops.STREAM_CMD_DISPATCH, iree_ops.STREAM_CMD_FILL)
ONCE = iree_ops.RECORDED_ONCE


def replayed_copies(module: ir.Operation) -> list[ir.Operation]:
    """The `stream.cmd.execute` ops of ``module``, after phase stream, that may be replayed wrongly, in program order.

    IREE records such a command buffer once and passes its buffers in a table. The Vulkan runtime 3.13 keeps the recorded commands, and
    records them anew if an address that a dispatch or a fill uses has changed: where there are copies alone, never. What IREE itself
    records for each call is not among them: a command buffer that is run once, and one with a number that is known only then.
    """
    if not has_device(module, "vulkan"):
        return []
    return [
        execute
        for function in _top(module)
        if function.name in FUNCTIONS
        for execute in _executes(function)
        if ONCE not in execute.attributes and _is_kept(execute) and _only_copies(execute)
    ]


def _top(module: ir.Operation) -> list[ir.Operation]:
    return [one.operation for one in module.regions[0].blocks[0].operations]


def _executes(function: ir.Operation) -> list[ir.Operation]:
    return [
        op.operation
        for region in function.regions
        for block in region.blocks
        for op in block.operations
        if op.operation.name == iree_ops.STREAM_CMD_EXECUTE
    ]


def _commands(block: ir.Block) -> list[ir.Operation]:
    """What ``block`` submits, groups resolved."""
    found = []
    for one in block.operations:
        op = one.operation
        inner = [command for region in op.regions for b in region.blocks for command in _commands(b)]
        found += inner or [op]
    return found


def _is_kept(execute: ir.Operation) -> bool:
    """Whether the commands are the same in every call, but for the buffers: all numbers are constants."""
    body = execute.regions[0].blocks[0]
    numbers = (
        v
        for op in _commands(body)
        for v in op.operands
        if isinstance(v.type, (ir.IntegerType, ir.IndexType, ir.FloatType))
    )
    return all(
        not isinstance(v.owner, ir.Block) and v.owner.operation.name == "arith.constant" for v in numbers
    )


def _only_copies(execute: ir.Operation) -> bool:
    """Whether ``execute`` copies a buffer of the call, more than once, and does nothing else: IREE submits one copy without recording it."""
    commands = [op.name for op in _commands(execute.regions[0].blocks[0])]
    if commands.count(iree_ops.STREAM_CMD_COPY) < 2 or any(name in commands for name in _REBOUND):
        return False
    buffers = view_of(execute).resource_operands
    return any(
        isinstance(value.owner, ir.Block) or value.owner.operation.name != iree_ops.UTIL_GLOBAL_LOAD
        for value in buffers
    )
