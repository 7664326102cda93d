"""Do threads of a workgroup compute the same elements, in the same memory?

Threads that differ only in a dimension of the block whose thread id is never used do the same computation. If they only
store their results, they store the same values. If they load, add and store again, a result is wrong whenever two threads
overlap in time: the last store wins, and the terms of the other are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..memory.tiles import ConfiguredDispatch
from .memory_views import buffer_of

_DIMENSIONS = ("#gpu.dim<x>", "#gpu.dim<y>", "#gpu.dim<z>")
_ANY_DIMENSION = ("gpu.lane_id", "gpu.subgroup_id")
_STORES = ("memref.store", "vector.store", "vector.transfer_write")
_LOADS = ("memref.load", "vector.load", "vector.transfer_read")
_SHARED = (iree_ops.HAL_INTERFACE_BINDING_SUBSPAN, "memref.alloc")


@dataclass(frozen=True)
class Redundant:
    """``threads`` of a workgroup compute the same: ``accumulated`` in memory that all of them see, or ``summed`` by each for itself."""

    threads: int = 1
    accumulated: bool = False
    summed: bool = False


def redundant_computation(function_or_module: ir.Operation) -> Redundant:
    """Reads IR after distribution to threads and bufferization, with one function of a known block size."""
    block: tuple[int, ...] = ()
    distinguished: set[int] = set()
    accumulated = summed = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal block, accumulated, summed
        if op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            block = tuple(ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]))
        elif op.name == "gpu.thread_id":
            distinguished.add(_DIMENSIONS.index(str(op.attributes["dimension"])))
        elif op.name in _ANY_DIMENSION:
            distinguished.update(range(len(_DIMENSIONS)))
        elif op.name == "scf.for":
            summed = summed or len(op.results) > 0
        elif op.name in _STORES:
            accumulated = accumulated or _accumulates(op)
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit, ir.WalkOrder.PRE_ORDER)
    threads = prod(size for dimension, size in enumerate(block) if dimension not in distinguished)
    return Redundant(threads, accumulated, summed) if threads > 1 else Redundant()


def may_be_redundant(dispatch: ConfiguredDispatch) -> bool:
    """Whether SPIR-V may give the loops of ``dispatch`` (configured) to other dimensions of the block than were chosen for them.

    It takes the tiled loops from the innermost one outwards, a dimension each; the configuration counts only those with
    several threads.
    """
    root = dispatch.root
    if root is None or not root.reduces or root.config is None or len(root.config.levels) < 2:
        return False
    tiles, parts = root.config.levels[:2]
    given = [
        tile // part
        for loop, (tile, part) in enumerate(zip(tiles, parts, strict=False))
        if tile and part and not root.reduction[loop]
    ]
    return any(
        threads != chosen for threads, chosen in zip(reversed(given), dispatch.workgroup, strict=False)
    )


def _accumulates(store: ir.Operation) -> bool:
    """Whether ``store`` writes to memory of the whole workgroup what was computed from the same buffer."""
    buffer = buffer_of(store.operands[1])
    if (
        buffer is None
        or buffer.name not in _SHARED
        or buffer.name == "memref.alloc"
        and "workgroup" not in str(buffer.results[0].type)
    ):
        return False
    pending, seen = [store.operands[0]], set()
    while pending:
        value = pending.pop()
        if hash(value) in seen or isinstance(value.owner, ir.Block):
            continue
        seen.add(hash(value))
        op = value.owner.operation
        if op.name in _LOADS:
            if buffer_of(op.operands[0]) == buffer:
                return True
        else:
            pending.extend(op.operands)
    return False
