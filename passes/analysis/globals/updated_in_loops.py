"""Which globals does a loop update: load, change a part of and store again?"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..host.on_host import ops_on_host
from ..program.private_calls import FUNCTIONS
from .accesses import mutable_tensors

_LOOPS = ("scf.for", "scf.while")


def updated_in_loops(module: ir.Operation) -> list[ir.Operation]:
    """The stores of mutable tensors in loops of ``module``, whose value is made from a load of the same global, in program order.

    IREE 3.13 has the command that changes the part wait for itself (ElideTimepoints), where that is all that is done with the global
    in the loop, and its verifier stops.
    """
    names = mutable_tensors(module)
    found = []
    for function in (one.operation for one in module.regions[0].blocks[0] if one.operation.name in FUNCTIONS):
        for op in ops_on_host(function):
            if op.name != iree_ops.UTIL_GLOBAL_STORE or text_of(op, "global") not in names:
                continue
            if _in_loop(op, function) and text_of(op, "global") in _loads_behind(op.operands[0]):
                found.append(op)
    return found


def _in_loop(op: ir.Operation, function: ir.Operation) -> bool:
    """Whether ``op`` may run more than once in a call of ``function``; a function of several blocks may have a loop of them."""
    parent = op.parent
    while parent is not None and parent.operation != function:
        if parent.operation.name in _LOOPS:
            return True
        parent = parent.operation.parent
    return any(len(region.blocks) > 1 for region in function.regions)


def _loads_behind(value: ir.Value) -> Iterator[str]:
    """The names of the globals from whose loads ``value`` is made."""
    pending, seen = [value], set()
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in seen:
            continue
        seen.add(owner.operation)
        if owner.operation.name == iree_ops.UTIL_GLOBAL_LOAD:
            yield text_of(owner.operation, "global")
        pending += owner.operation.operands
        if owner.name == "scf.if":
            ends = (
                block.operations[len(block.operations) - 1]
                for region in owner.operation.regions
                for block in region.blocks
            )
            pending += (value for end in ends for value in end.operands)
