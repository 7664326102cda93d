"""Which buffers in the private memory of each thread are read where other threads have written.

Private memory is there once for each thread. A buffer of which each thread writes a part of its own (an index depends on the thread) holds that
part alone: what it reads elsewhere, another thread has written into a buffer of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iree.compiler import ir

from ..memory.footprint import Allocation, allocation_of
from ..memory.tiles import ConfiguredDispatch
from .memory_views import VIEWS
from .sharing import WRITES, depends_on_thread, is_stored_value, written_out

PRIVATE = "private"
_DYNAMIC = -(1 << 63)
_SAME_ELEMENTS = ("memref.cast", "memref.assume_alignment")

Part = tuple[str, ...]
"""In each dimension the index as far as it depends on the thread; empty where it does not."""


def may_share_privately(dispatch: ConfiguredDispatch) -> bool:
    """TileAndFuse tiles a reduction's results together; what its consumers read of one, other threads may compute."""
    return dispatch.pipeline == "TileAndFuse" and any(
        op.reduces and len(op.inits) > 1 and dispatch.users(op) for op in dispatch.ops
    )


def shared_privately(function_or_module: ir.Operation) -> tuple[Allocation, ...]:
    """Private buffers that one thread reads where another writes. Reads IR after distribution to threads and bufferization, with one function."""
    buffers: list[ir.Operation] = []
    block: tuple[int, ...] = ()

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal block
        if op.name == "func.func" and "gpu.known_block_size" in op.attributes:
            block = tuple(ir.DenseI32ArrayAttr(op.attributes["gpu.known_block_size"]))
        elif op.name == "memref.alloca" and PRIVATE in str(op.results[0].type):
            buffers.append(op)
        return ir.WalkResult.ADVANCE

    function_or_module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if set(block) == {1}:
        return ()
    return tuple(allocation_of(op, PRIVATE) for op in buffers if _accesses(op.results[0]).mix_threads)


@dataclass
class _Accesses:
    written: set[Part] = field(default_factory=set)
    read: set[Part] = field(default_factory=set)
    understood: bool = True
    """Whether each access says which elements it reaches."""

    @property
    def mix_threads(self) -> bool:
        """Whether some thread reads what another has written. What every thread writes for itself is there for it."""
        own = {part for part in self.written if any(part)}
        return self.understood and bool(own) and any(self.read - {part} for part in own)


def _accesses(buffer: ir.Value) -> _Accesses:
    rank = ir.MemRefType(buffer.type).rank
    found = _Accesses()
    pending: list[tuple[ir.Value, Part]] = [(buffer, ("",) * rank)]
    while pending:
        value, part = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in ("memref.dealloc", "memref.dim"):
                continue
            if user.name in _SAME_ELEMENTS:
                pending.append((user.results[0], part))
                continue
            if user.name == "memref.subview" and len(part) == ir.MemRefType(user.results[0].type).rank:
                pending.append((user.results[0], _joined(part, _offsets(user))))
                continue
            indices = [one for one in user.operands if str(one.type) == "index"]
            if user.regions:  # of all that the view shows; the indices are the region's
                indices = []
            elif user.name in VIEWS or len(indices) not in (0, len(part)):
                found.understood = False
                continue
            here = _joined(part, [_part(one) for one in indices]) if indices else part
            copied_to = user.name == "memref.copy" and user.operands[1] == value
            unknown = user.name.startswith(("linalg.", "vector.mask"))  # counts as both
            stores = copied_to or user.name in WRITES and not is_stored_value(user, value)
            if stores or unknown:
                found.written.add(here)
            if unknown or not stores:
                found.read.add(here)
    return found


def _part(index: ir.Value) -> str:
    return written_out(index, 0) if depends_on_thread([index]) else ""


def _offsets(view: ir.Operation) -> list[str]:
    dynamic = iter(list(view.operands)[1:])
    return [
        _part(next(dynamic)) if offset == _DYNAMIC else ""
        for offset in ir.DenseI64ArrayAttr(view.attributes["static_offsets"])
    ]


def _joined(part: Part, other: list[str]) -> Part:
    return tuple(f"{one}+{two}" if one and two else one or two for one, two in zip(part, other, strict=True))
