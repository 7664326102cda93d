"""Which buffers are shared between threads of a workgroup without a barrier: workgroup memory, and results in storage.

A buffer is private to each thread where every access goes through views at one and the same place, which depends on
the thread: what a thread reads is what it wrote. Otherwise threads read what others wrote, and a function without
any `gpu.barrier` gives no order between the two.

A result in storage races where the ops of a dispatch are given to threads in different ways: the fill of an accumulator by
rows and channels, a depthwise convolution of it by channels and rows (IREE 3.13; 412 of 1792 values wrong on lavapipe).
"""

from __future__ import annotations

from dataclasses import replace

from iree.compiler import ir

from .footprint import STORAGE, WORKGROUP, Allocation, allocation_of, read_footprint
from .provenance import place_of, tags_of

_VIEWS = ("memref.subview", "memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.reinterpret_cast",
          "memref.assume_alignment", "memref.view")
_BARRIERS = ("gpu.barrier", "amdgpu.lds_barrier", "nvgpu.device_async_wait")
_WRITES = ("memref.store", "vector.store", "vector.transfer_write", "vector.maskedstore", "vector.scatter")


def unsynchronised(function_or_module: ir.Operation, workgroup_alignment: int = 1) -> tuple[Allocation, ...]:
    """Buffers that one thread writes and another may read with no barrier in the function: those in workgroup memory with
    the op that they belong to, results in storage (`STORAGE`) with the ops that write them, the first one first.

    Reads IR after distribution to threads and bufferization (SPIR-V BaseDistribute). A workgroup of one
    thread races with nobody.
    """
    barriers = 0
    allocations: list[ir.Operation] = []
    bindings: list[ir.Operation] = []
    threads = 1

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal barriers, threads
        if op.name in _BARRIERS:
            barriers += 1
        elif op.name == "memref.alloc" and "workgroup" in str(op.results[0].type):
            allocations.append(op)
        elif op.name == "hal.interface.binding.subspan" and isinstance(op.results[0].type, ir.MemRefType):
            bindings.append(op)
        elif op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            threads = 1
            for size in ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]):
                threads *= size
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    if barriers or threads == 1:
        return ()
    footprint = read_footprint(function_or_module, workgroup_alignment)
    buffers = [a for a in footprint.allocations if a.space == WORKGROUP]
    tiles = [buffer for buffer, op in zip(buffers, allocations, strict=True) if _shared(op.results[0])]
    return (*tiles, *(_storage(op, writers) for op in bindings if (writers := _shared(op.results[0]))))


def _storage(binding: ir.Operation, writers: list[ir.Operation]) -> Allocation:
    tags = tuple(dict.fromkeys(tag for op in writers for tag in tags_of(op)))
    return replace(allocation_of(binding, STORAGE), tags=tags, place=place_of(writers[0]))


def _shared(buffer: ir.Value) -> list[ir.Operation]:
    """What writes ``buffer``, in program order, where one thread may read what another wrote; else nothing."""
    reads = thread_bound = False
    writers: list[ir.Operation] = []
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
                writers.append(user)
            elif user.name == "memref.copy" and user.operands[1] == value:
                writers.append(user)
            elif user.name.startswith(("linalg.", "vector.mask")):
                writers.append(user)  # not taken apart: counts as both
                reads = True
            else:
                reads = True
            indices = [operand for operand in user.operands if str(operand.type) == "index"]
            places.add(path + "@" + ",".join(_expression(index, 0) for index in indices))
            thread_bound = bound or _depends_on_thread(indices)
    # One place for all accesses, and each thread has its own: it reads what it wrote.
    private = len(places) == 1 and thread_bound
    return _in_program_order(writers) if writers and reads and not private else []


def _in_program_order(ops: list[ir.Operation]) -> list[ir.Operation]:
    """``ops`` of one function, sorted: a value's uses come in no order."""
    function = ops[0].parent
    while function.parent is not None and function.name != "func.func":
        function = function.parent
    position: dict[int, int] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        position[hash(op)] = len(position)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return sorted(ops, key=lambda op: position[hash(op)])


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
