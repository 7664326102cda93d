"""Which workgroup buffers are shared between threads without a barrier.

A buffer is private to each thread where every access goes through one view whose offset depends on the thread:
what a thread reads is what it wrote. Otherwise threads read what others wrote, and a function without
any `gpu.barrier` gives no order between the two.
"""

from __future__ import annotations

from iree.compiler import ir

from .footprint import WORKGROUP, Allocation, read_footprint

_VIEWS = ("memref.subview", "memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.reinterpret_cast",
          "memref.assume_alignment", "memref.view")
_BARRIERS = ("gpu.barrier", "amdgpu.lds_barrier", "nvgpu.device_async_wait")
_WRITES = ("memref.store", "vector.store", "vector.transfer_write", "vector.maskedstore", "vector.scatter")


def unsynchronised(function_or_module: ir.Operation, workgroup_alignment: int = 1) -> tuple[Allocation, ...]:
    """Workgroup buffers that one thread writes and another may read with no barrier in the function.

    Reads IR after distribution to threads and bufferization (SPIR-V BaseDistribute). A workgroup of one
    thread races with nobody.
    """
    barriers = 0
    allocations: list[ir.Operation] = []
    threads = 1

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal barriers, threads
        if op.name in _BARRIERS:
            barriers += 1
        elif op.name == "memref.alloc" and "workgroup" in str(op.results[0].type):
            allocations.append(op)
        elif op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            threads = 1
            for size in ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]):
                threads *= size
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    if barriers or threads == 1 or not allocations:
        return ()
    footprint = read_footprint(function_or_module, workgroup_alignment)
    buffers = [a for a in footprint.allocations if a.space == WORKGROUP]
    return tuple(
        buffer for buffer, op in zip(buffers, allocations, strict=True) if _is_shared(op.results[0])
    )


def _is_shared(buffer: ir.Value) -> bool:
    users = [use.owner.operation for use in buffer.uses]
    users = [user for user in users if user.name not in ("memref.dealloc",)]
    if len(users) == 1 and users[0].name == "memref.subview" and _depends_on_thread(users[0].operands):
        return False
    writes = reads = False
    pending = [buffer]
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in _VIEWS:
                pending.extend(user.results)
            elif user.name in _WRITES and not _is_stored_value(user, value):
                writes = True
            elif user.name == "memref.copy" and user.operands[1] == value:
                writes = True
            elif user.name.startswith("linalg.") or user.name.startswith("vector.mask"):
                writes = reads = True  # not taken apart: counts as both
            elif user.name != "memref.dealloc":
                reads = True
    return writes and reads


def _is_stored_value(op: ir.Operation, value: ir.Value) -> bool:
    return op.operands[0] == value


def _depends_on_thread(operands) -> bool:
    """Whether any index among ``operands`` is computed from a thread id, looking through arithmetic."""
    pending = [operand for operand in operands]
    seen = set()
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, ir.Block) or hash(value) in seen:
            continue
        seen.add(hash(value))
        owner = owner.operation
        if owner.name in ("gpu.thread_id", "gpu.lane_id"):
            return True
        if owner.name.startswith(("affine.", "arith.")):
            pending.extend(owner.operands)
    return False
