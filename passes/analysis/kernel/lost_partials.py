"""Which buffers in workgroup memory keep results of threads that no thread reads.

Where the subgroups of a workgroup share a reduction, each stores its result in a slot of its own, and each thread then reads all slots. A buffer
whose slots are chosen by the thread that writes, and of which every read reaches the same few slots, loses what lies in the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iree.compiler import ir

from ..memory.footprint import WORKGROUP, Allocation, allocation_of
from ..memory.tiles import ConfiguredDispatch
from .sharing import WRITES, depends_on_thread, is_stored_value

_READS = ("memref.load", "vector.load", "vector.transfer_read", "vector.maskedload")
_SAME_ELEMENTS = ("memref.cast", "memref.assume_alignment")


def may_lose_partials(dispatch: ConfiguredDispatch) -> bool:
    """VectorDistribute gives a reduction to several subgroups, and combines their results through workgroup memory."""
    return dispatch.pipeline == "VectorDistribute" and any(op.reduces for op in dispatch.ops)


def lost_partials(function_or_module: ir.Operation) -> tuple[Allocation, ...]:
    """Buffers in workgroup memory with slots that threads write and none reads. Reads IR after distribution to threads and bufferization."""
    buffers: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "memref.alloc" and "workgroup" in str(op.results[0].type):
            buffers.append(op)
        return ir.WalkResult.ADVANCE

    function_or_module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return tuple(allocation_of(op, WORKGROUP) for op in buffers if _loses_slots(op.results[0]))


@dataclass
class _Slots:
    """Along one dimension of a buffer: how many slots a write fills whose place the thread chooses (0: none), and which slots are read."""

    filled: int = 0
    read: set[int] = field(default_factory=set)

    @property
    def lost(self) -> bool:
        """Whether all reads together reach no more than what one thread has written. Where they reach more, the rest may be padding."""
        return 0 < len(self.read) <= self.filled


def _loses_slots(buffer: ir.Value) -> bool:
    type_ = ir.MemRefType(buffer.type)
    if not type_.has_static_shape:
        return False
    slots = [_Slots() for _ in type_.shape]
    pending = [buffer]
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in ("memref.dealloc", "memref.dim", "gpu.barrier"):
                continue
            if user.name in _SAME_ELEMENTS:
                pending.append(user.results[0])
                continue
            indices = [one for one in user.operands if str(one.type) == "index"]
            stores = user.name in WRITES and not is_stored_value(user, value)
            if len(indices) != len(slots) or not (stores or user.name in _READS):
                return False
            if stores:
                for slot, index, extent in zip(slots, indices, _extents(user, len(slots)), strict=True):
                    slot.filled = max(slot.filled, extent if depends_on_thread([index]) else 0)
            else:
                for slot, reached in zip(slots, _reached(user, indices, type_.shape), strict=True):
                    slot.read |= reached
    return any(slot.lost and slot.filled < size for slot, size in zip(slots, type_.shape, strict=True))


def _reached(load: ir.Operation, indices: list[ir.Value], shape: list[int]) -> list[set[int]]:
    """In each dimension the slots that ``load`` may read: all of them where its index is not constant."""
    found = []
    for index, extent, size in zip(indices, _extents(load, len(indices)), shape, strict=True):
        start = _constant(index)
        found.append(set(range(size)) if start is None else set(range(start, min(start + extent, size))))
    return found


def _extents(access: ir.Operation, rank: int) -> list[int]:
    """How many elements ``access`` reads or writes along each dimension of its buffer."""
    value = (access.results[0] if access.name in _READS else access.operands[0]).type
    shape = list(value.shape) if isinstance(value, ir.VectorType) else []
    along: list[int | None] = list(range(rank - len(shape), rank))
    if "permutation_map" in access.attributes:
        order = ir.AffineMapAttr(access.attributes["permutation_map"]).value.results
        along = [one.position if isinstance(one, ir.AffineDimExpr) else None for one in order]
    extents = [1] * rank
    for dimension, extent in zip(along, shape, strict=True):
        if dimension is not None:
            extents[dimension] = extent
    return extents


def _constant(index: ir.Value) -> int | None:
    owner = index.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    return ir.IntegerAttr(owner.attributes["value"]).value
