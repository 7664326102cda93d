"""On-chip memory of one dispatch: its allocations, read from IR after bufferization."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.quantity import Bytes, round_up, total

from ..dispatch.provenance import place_of, tags_of

WORKGROUP = "workgroup"
STACK = "stack"
PRIVATE = "private"
"""A thread's own memory on a GPU: what has a size is not counted, and what has none IREE cannot lay out."""
STORAGE = "storage"
"""A buffer in global memory: no on-chip byte, but threads may race on it."""


NO_BOUND = 2**53 - 1
"""The extent that IREE gives a buffer dimension that nothing bounds (util.assume.int's default, 3.13)."""


@dataclass(frozen=True)
class Allocation:
    """One on-chip buffer. ``type`` is `64x2x64xf32`; ``tags`` are the source ops that it belongs to."""

    space: str
    bytes: Bytes
    type: str
    tags: tuple[int, ...] = ()
    place: Place | None = None


@dataclass(frozen=True)
class Footprint:
    """All on-chip buffers of one dispatch, in program order."""

    allocations: tuple[Allocation, ...]

    @property
    def total(self) -> Bytes:
        """The sum, without reuse by liveness: IREE's check counts so too (GPUCheckResourceUsage, 3.13)."""
        return total(a.bytes for a in self.allocations)

    def by_tag(self) -> dict[int | None, Bytes]:
        """Bytes per source op (the first tag of each buffer; None where a buffer has none)."""
        result: dict[int | None, Bytes] = {}
        for a in self.allocations:
            key = a.tags[0] if a.tags else None
            result[key] = result.get(key, Bytes.exact(0)) + a.bytes
        return result


def element_bits(element: ir.Type) -> int:
    """Bits that one element occupies in a buffer; an i1 takes a byte, an index 64 bits."""
    text = str(element)
    if isinstance(element, ir.VectorType):
        count = 1
        for size in element.shape:
            count *= size
        return count * element_bits(element.element_type)
    if text == "index":
        return 64
    if text == "i1":
        return 8
    if match := re.fullmatch(r"complex<\w*?(\d+)>", text):
        return 2 * int(match.group(1))
    if match := re.match(r"(?:[su]?i|b?f|tf)(\d+)", text):
        return int(match.group(1))
    raise ValueError(f"element type {text} has no size in memory")


def read_footprint(function_or_module: ir.Operation, workgroup_alignment: int = 1) -> Footprint:
    """Workgroup buffers (`memref.alloc`), stack buffers (`memref.alloca`), and private ones of unknown size below an op.

    Each is rounded up to its own alignment, or ``workgroup_alignment`` bytes where it has none.
    A dynamic size is unknown, never 0.
    """
    found: list[Allocation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "memref.alloc":
            memref_type = ir.MemRefType(op.results[0].type)
            if "workgroup" in str(memref_type.memory_space):
                found.append(_allocation(op, memref_type, WORKGROUP, workgroup_alignment))
        elif op.name == "memref.alloca":
            memref_type = ir.MemRefType(op.results[0].type)
            space = PRIVATE if "private" in str(memref_type.memory_space) else STACK
            one = _allocation(op, memref_type, space, 1)
            if space == STACK or one.bytes.value is None:
                found.append(one)
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return Footprint(tuple(found))


def allocation_of(op: ir.Operation, space: str) -> Allocation:
    """The buffer that is the first result of ``op``, in ``space``, not rounded up."""
    return _allocation(op, ir.MemRefType(op.results[0].type), space, 1)


def _allocation(op: ir.Operation, memref_type: ir.MemRefType, space: str, alignment: int) -> Allocation:
    if "alignment" in op.attributes:
        alignment = max(alignment, ir.IntegerAttr(op.attributes["alignment"]).value)
    open_ = [
        memref_type.is_dynamic_dim(i) or memref_type.shape[i] == NO_BOUND for i in range(memref_type.rank)
    ]
    shape = "x".join(
        "?" if is_open else str(size) for is_open, size in zip(open_, memref_type.shape, strict=True)
    )
    text = f"{shape}x{memref_type.element_type}" if shape else str(memref_type.element_type)
    if not any(open_):
        bits = element_bits(memref_type.element_type)
        for size in memref_type.shape:
            bits *= size
        count = Bytes.exact(round_up(-(-bits // 8), alignment))
    else:
        count = Bytes.unknown("dynamic size")
    return Allocation(space, count, text, tags_of(op), place_of(op))
