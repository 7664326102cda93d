"""Do all threads of a workgroup add the same terms to the same elements in memory?

A dimension of the block whose thread id appears nowhere gives its threads nothing to tell them apart: each does what the
others do. What they only write they write alike. What they load, add to and store again is wrong wherever one thread
begins while another is at work: the last store wins, whatever it has missed.
"""

from __future__ import annotations

from math import prod

from iree.compiler import ir

from .memory_views import buffer_of

_DIMENSIONS = ("#gpu.dim<x>", "#gpu.dim<y>", "#gpu.dim<z>")
_ANY_DIMENSION = ("gpu.lane_id", "gpu.subgroup_id")
_STORES = ("memref.store", "vector.store", "vector.transfer_write")
_LOADS = ("memref.load", "vector.load", "vector.transfer_read")
_SHARED = ("hal.interface.binding.subspan", "memref.alloc")


def threads_of_one_sum(function_or_module: ir.Operation) -> int:
    """How many threads of a workgroup do the same to an element that they load and store again; 1 where none does.

    Reads IR after distribution to threads and bufferization, with one function of a known block size.
    """
    block: tuple[int, ...] = ()
    told_apart: set[int] = set()
    adds = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal block, adds
        if op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            block = tuple(ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]))
        elif op.name == "gpu.thread_id":
            told_apart.add(_DIMENSIONS.index(str(op.attributes["dimension"])))
        elif op.name in _ANY_DIMENSION:
            told_apart.update(range(len(_DIMENSIONS)))
        elif op.name in _STORES:
            adds = adds or _adds(op)
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return prod(size for dimension, size in enumerate(block) if dimension not in told_apart) if adds else 1


def _adds(store: ir.Operation) -> bool:
    """Whether ``store`` writes to memory of the whole workgroup what was computed from the same buffer."""
    buffer = buffer_of(store.operands[1])
    if buffer is None or buffer.name not in _SHARED or buffer.name == "memref.alloc" and "workgroup" not in str(buffer.results[0].type):
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
