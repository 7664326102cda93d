"""Which workgroup buffers are shared between threads without a barrier.

A buffer is private to each thread where every access goes through views at one and the same place, which depends on
the thread: what a thread reads is what it wrote. Otherwise threads read what others wrote, and a function without
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
    writes = reads = thread_bound = False
    places: set[str] = set()
    pending: list[tuple[ir.Value, str, bool]] = [(buffer, "", False)]
    while pending:
        value, path, bound = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name == "memref.dealloc":
                continue
            if user.name in _VIEWS:
                indices = list(user.operands)[1:]
                where = _where(user) if user.name == "memref.subview" else user.name
                pending.extend((r, f"{path}/{where}", bound or _depends_on_thread(indices)) for r in user.results)
                continue
            if user.name in _WRITES and not _is_stored_value(user, value):
                writes = True
            elif user.name == "memref.copy" and user.operands[1] == value:
                writes = True
            elif user.name.startswith(("linalg.", "vector.mask")):
                writes = reads = True  # not taken apart: counts as both
            else:
                reads = True
            indices = [operand for operand in user.operands if str(operand.type) == "index"]
            places.add(path + "@" + ",".join(_expression(index, 0) for index in indices))
            thread_bound = bound or _depends_on_thread(indices)
    # One place for all accesses, and each thread has its own: it reads what it wrote.
    private = len(places) == 1 and thread_bound
    return writes and reads and not private


def _is_stored_value(op: ir.Operation, value: ir.Value) -> bool:
    return op.operands[0] == value


def _where(view: ir.Operation) -> str:
    """The offsets, sizes and strides of a subview, written out: equal for views of the same elements in every thread."""
    static = "".join(str(view.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides"))
    return static + "".join(_expression(operand, 0) for operand in list(view.operands)[1:])


def _expression(value: ir.Value, depth: int) -> str:
    """An index written out in constants, thread ids and loop ranges; a loop's variable is its range."""
    owner = value.owner
    if depth > 12:
        return f"?{hash(value)}"
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        if loop.name == "scf.for" and owner.arguments[0] == value:
            return "for(" + ",".join(_expression(bound, depth + 1) for bound in list(loop.operands)[:3]) + ")"
        return f"?{hash(value)}"
    op = owner.operation
    if op.name == "arith.constant":
        return str(op.attributes["value"])
    if op.name in ("gpu.thread_id", "gpu.lane_id", "gpu.block_id") or op.name.startswith(("affine.", "arith.")):
        attributes = ",".join(f"{name}={op.attributes[name]}" for name in op.attributes)
        position = [str(result) for result in op.results].index(str(value)) if len(op.results) > 1 else 0
        return f"{op.name}#{position}[{attributes}](" + ",".join(_expression(o, depth + 1) for o in op.operands) + ")"
    return f"?{hash(value)}"


def _depends_on_thread(operands) -> bool:
    """Whether any index among ``operands`` is computed from a thread id, looking through arithmetic and loop ranges."""
    pending = [operand for operand in operands]
    seen = set()
    while pending:
        value = pending.pop()
        owner = value.owner
        if hash(value) in seen:
            continue
        seen.add(hash(value))
        if isinstance(owner, ir.Block):
            loop = owner.owner.operation
            if loop.name == "scf.for" and owner.arguments[0] == value:
                pending.extend(list(loop.operands)[:3])
            continue
        owner = owner.operation
        if owner.name in ("gpu.thread_id", "gpu.lane_id"):
            return True
        if owner.name.startswith(("affine.", "arith.")):
            pending.extend(owner.operands)
    return False
