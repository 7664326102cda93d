"""Which buffers are shared between threads of a workgroup without a barrier: workgroup memory, and results in storage.

A buffer is private to each thread where every access goes through views at one and the same place, which depends on
the thread: what a thread reads is what it wrote. Nor is one shared whose rows are given to threads, each access in the
thread's own rows (`thread_rows`: a sort). Otherwise threads read what others wrote, and a function without any
`gpu.barrier` gives no order between the two.

A result in storage races where the ops of a dispatch are given to threads in different ways: the fill of an accumulator by
rows and channels, a depthwise convolution of it by channels and rows (IREE 3.13; 412 of 1792 values wrong on lavapipe).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of, tags_of
from ..memory.footprint import STORAGE, WORKGROUP, Allocation, allocation_of, read_footprint
from .memory_views import VIEWS
from .thread_rows import Row, rows_of_thread, rows_of_view

_BARRIERS = ("gpu.barrier", "amdgpu.lds_barrier", "nvgpu.device_async_wait")
_BRANCHES = ("scf.if", "scf.while", "scf.index_switch", "scf.parallel", "scf.forall")
_LOADS = ("memref.load", "vector.load")
WRITES = ("memref.store", "vector.store", "vector.transfer_write", "vector.maskedstore", "vector.scatter")


def unsynchronised(
    function_or_module: ir.Operation, workgroup_alignment: int = 1, distributed: bool = False
) -> tuple[Allocation, ...]:
    """Buffers that one thread writes and another may read, or write over, with no barrier in between: those in workgroup memory with the
    op that they belong to, and, where ``distributed``, results in storage (`STORAGE`) with the ops that write them.

    Reads IR after distribution to threads and bufferization. ``distributed``: by SPIR-V BaseDistribute, which gives each op of a
    dispatch to threads by itself. A barrier ends an interval there, and what happens in one interval may race; elsewhere, and
    where a barrier stands in a branch, any barrier is taken for enough. A workgroup of one thread races with nobody.
    """
    code = _Code(function_or_module)
    if set(code.block) == {1} or code.barriers and (code.is_conditional or not distributed):
        return ()
    footprint = read_footprint(function_or_module, workgroup_alignment)
    buffers = [a for a in footprint.allocations if a.space == WORKGROUP]
    tiles = [
        buffer
        for buffer, op in zip(buffers, code.allocations, strict=True)
        if _writers_that_race(op.results[0], code)
    ]
    if not distributed:
        return tuple(tiles)
    results = [(op, _writers_that_race(op.results[0], code)) for op in code.bindings]
    return (*tiles, *(_storage(op, writers) for op, writers in results if writers))


class _Code:
    """A function's buffers, threads and barriers, and when each op happens between these."""

    def __init__(self, function_or_module: ir.Operation) -> None:
        self.allocations: list[ir.Operation] = []
        self.bindings: list[ir.Operation] = []
        self.block: tuple[int, ...] = (1,)
        """The threads of a workgroup in each dimension."""
        self.barriers = 0
        self.is_conditional = False
        """Whether a barrier stands in something else than a function or a loop: not every thread need come there."""
        self._at: dict[int, tuple[int, tuple[int, ...]]] = {}
        """Hash of an op -> barriers in front of it, and the loops around it."""
        self._spans: dict[int, tuple[int, int]] = {}
        """Hash of a loop -> barriers in front of it, and in front of its end."""
        self._visit(function_or_module.operation, (), True)

    def intervals_of(self, op: ir.Operation) -> Iterator[tuple[int, int]]:
        """Between which barriers ``op`` happens: the first number counts these. What stands behind the last barrier of a loop happens in one
        interval with what stands in front of the first one, an iteration later: the second number is that of the loop."""
        before, loops = self._at[hash(op)]
        yield before, 0
        for loop in loops:
            first, last = self._spans[loop]
            if first < last and before in (first, last):
                yield -1, loop

    def position(self, op: ir.Operation) -> int:
        return self._positions[hash(op)]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {op: position for position, op in enumerate(self._at)}

    def _visit(self, op: ir.Operation, loops: tuple[int, ...], always: bool) -> None:
        key = hash(op)
        self._at[key] = self.barriers, loops
        if op.name in _BARRIERS:
            self.barriers += 1
            self.is_conditional = self.is_conditional or not always
        elif op.name == "memref.alloc" and "workgroup" in str(op.results[0].type):
            self.allocations.append(op)
        elif op.name == iree_ops.HAL_INTERFACE_BINDING_SUBSPAN and isinstance(
            op.results[0].type, ir.MemRefType
        ):
            self.bindings.append(op)
        elif op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            self.block = tuple(ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]))
        if not op.regions:
            return
        first, is_loop = self.barriers, op.name == "scf.for"
        inside = always and (is_loop or op.name not in _BRANCHES)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self._visit(inner.operation, (*loops, key) if is_loop else loops, inside)
        if is_loop:
            self._spans[key] = first, self.barriers


def _storage(binding: ir.Operation, writers: list[ir.Operation]) -> Allocation:
    tags = tuple(dict.fromkeys(tag for op in writers for tag in tags_of(op)))
    return replace(allocation_of(binding, STORAGE), tags=tags, place=place_of(writers[0]))


@dataclass
class _Interval:
    """What happens to one buffer between two barriers."""

    writers: list[ir.Operation] = field(default_factory=list)
    reads: bool = False
    places: set[str] = field(default_factory=set)
    bound: bool = True
    rows: set[tuple[str, Row]] | None = None
    """Rows that every access so far stays in; None before the first."""
    written_by_all: bool = False
    """Whether a store puts the same elements in every thread."""
    written_by_each: bool = False
    """Whether a store puts elements of the thread's own: a thread that comes late with the former writes over them."""

    def races(self, block: Sequence[int]) -> bool:
        if not self.writers or not (self.reads or self.written_by_all and self.written_by_each):
            return False
        # One place for all accesses, and each thread has its own: it reads what it wrote.
        if len(self.places) == 1 and self.bound:
            return False
        given = {row.dimension for _path, row in self.rows or ()}
        return not all(dimension in given for dimension, size in enumerate(block) if size > 1)


def _writers_that_race(buffer: ir.Value, code: _Code) -> list[ir.Operation]:
    """What writes ``buffer`` where one thread may read what another wrote, in program order; nothing where none may."""
    block = code.block
    found: dict[tuple[int, int], _Interval] = {}
    pending: list[tuple[ir.Value, str, bool, frozenset[tuple[str, Row]]]] = [(buffer, "", False, frozenset())]
    # Position i of two views is the same row of the buffer only where the views are the same, type and offsets included.
    exact: dict[ir.Value, str] = {buffer: ""}
    while pending:
        value, path, bound, rows = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name == "memref.dealloc":
                continue
            if user.name in VIEWS:
                indices = list(user.operands)[1:]
                where, within = user.name, rows
                if user.name == "memref.subview":
                    where = _where(user)
                    within |= (
                        {(exact[value], row) for row in rows_of_view(user, block, written_out)}
                        if not bound
                        else set()
                    )
                same = f"{exact[value]}/{where}({','.join(written_out(i, 0) for i in indices)})"
                exact |= {r: f"{same}: {r.type}" for r in user.results}
                pending.extend(
                    (r, f"{path}/{where}", bound or depends_on_thread(indices), within) for r in user.results
                )
                continue
            copied_to = user.name == "memref.copy" and user.operands[1] == value
            stores = copied_to or user.name in WRITES and not is_stored_value(user, value)
            unknown = user.name.startswith(("linalg.", "vector.mask"))  # not analysed further: counts as both
            indices = [operand for operand in user.operands if str(operand.type) == "index"]
            place = path + "@" + ",".join(written_out(index, 0) for index in indices)
            has_own = bound or depends_on_thread(indices)
            own = (
                rows
                if bound
                else rows | {(exact[value], row) for row in rows_of_thread(user, value, block, written_out)}
            )
            for interval in code.intervals_of(user):
                here = found.setdefault(interval, _Interval())
                if stores or unknown:
                    here.writers.append(user)
                    here.written_by_each |= has_own
                    here.written_by_all |= not has_own and not _is_in_branch(user)
                if unknown or not stores:
                    here.reads = True
                here.places.add(place)
                here.bound = here.bound and has_own
                here.rows = set(own) if here.rows is None else here.rows & own
    racing = {hash(op): op for interval in found.values() if interval.races(block) for op in interval.writers}
    return sorted(racing.values(), key=code.position)


def _is_in_branch(op: ir.Operation) -> bool:
    """Whether some threads may not come to ``op``."""
    parent = op.parent
    while parent is not None and parent.name != "func.func":
        if parent.name in _BRANCHES:
            return True
        parent = parent.operation.parent
    return False


def is_stored_value(op: ir.Operation, value: ir.Value) -> bool:
    return op.operands[0] == value


def _where(view: ir.Operation) -> str:
    """The offsets, sizes and strides of a subview, written out: equal for views of the same elements in every thread."""
    static = "".join(
        str(view.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")
    )
    return static + "".join(written_out(operand, 0) for operand in list(view.operands)[1:])


def written_out(value: ir.Value, depth: int) -> str:
    """An index written out in constants, thread ids and loop ranges; a loop's variable is its range."""
    owner = value.owner
    if depth > 12:
        return f"?{hash(value)}"
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        if loop.name == "scf.for" and owner.arguments[0] == value:
            return "for(" + ",".join(written_out(bound, depth + 1) for bound in list(loop.operands)[:3]) + ")"
        return f"?{hash(value)}"
    op = owner.operation
    if op.name == "arith.constant":
        return str(op.attributes["value"])
    if op.name in ("gpu.thread_id", "gpu.lane_id", "gpu.block_id") or op.name.startswith(
        ("affine.", "arith.")
    ):
        attributes = ",".join(f"{name}={op.attributes[name]}" for name in op.attributes)
        position = [str(result) for result in op.results].index(str(value)) if len(op.results) > 1 else 0
        return (
            f"{op.name}#{position}[{attributes}]("
            + ",".join(written_out(o, depth + 1) for o in op.operands)
            + ")"
        )
    return f"?{hash(value)}"


def depends_on_thread(operands) -> bool:
    """Whether any index among ``operands`` is computed from a thread id, looking through arithmetic and loop ranges, or loaded from a place that
    is."""
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
        elif owner.name in _LOADS or owner.name in VIEWS:
            pending.extend(owner.operands)  # the index of a scatter: IREE gives those to threads that differ
    return False
