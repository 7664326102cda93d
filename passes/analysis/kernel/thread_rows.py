"""Which index of a memory access or view says, by itself, which thread makes it: accesses that agree on it share nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iree.compiler import ir

_DIMENSIONS = {"#gpu.dim<x>": 0, "#gpu.dim<y>": 1, "#gpu.dim<z>": 2}
_DYNAMIC = -(1 << 63)


@dataclass(frozen=True)
class Row:
    """Index ``position`` is ``expression``, which differs between any two threads that differ in ``dimension`` of the block."""

    position: int
    dimension: int
    expression: str


def rows_of_thread(
    op: ir.Operation, buffer: ir.Value, block: Sequence[int], written_out: Callable[[ir.Value, int], str]
) -> list[Row]:
    """The rows of ``buffer`` that ``op`` stays in: for loads and stores of one element; none for other accesses."""
    if op.name not in ("memref.load", "memref.store"):
        return []
    at = list(op.operands).index(buffer)
    rows = []
    for position, index in enumerate(list(op.operands)[at + 1 :]):
        if (own := _own(index, block)) is not None:
            rows.append(Row(position, own[0], written_out(index, 0)))
    return rows


def rows_of_view(
    view: ir.Operation, block: Sequence[int], written_out: Callable[[ir.Value, int], str]
) -> list[Row]:
    """The rows of its source that a `memref.subview` stays in: its offset is the thread's own, and its size no larger than the
    distance to the next thread's."""
    offsets = iter(list(view.operands)[1:])
    rows = []
    numbers = (
        ir.DenseI64ArrayAttr(view.attributes[name])
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    for position, (offset, size, stride) in enumerate(zip(*numbers, strict=False)):
        if offset != _DYNAMIC:
            continue
        index = next(offsets)
        own = _own(index, block)
        if own is not None and stride == 1 and size != _DYNAMIC and size <= abs(own[1]):
            rows.append(Row(position, own[0], f"{written_out(index, 0)} for {size}"))
    return rows


def _own(value: ir.Value, block: Sequence[int]) -> tuple[int, int] | None:
    """(dimension, factor) where ``value`` is factor times the thread id in that dimension plus what all threads have alike.

    The variable of a loop that begins there and steps over all the block's threads is each thread's own as well.
    """
    owner = value.owner
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        if loop.name != "scf.for" or owner.arguments[0] != value:
            return None
        start, step = _own(loop.operands[0], block), _constant(loop.operands[2])
        if start is None or step is None or step % (start[1] * block[start[0]]):
            return None
        return start
    op = owner.operation
    if op.name == "gpu.thread_id":
        dimension = _DIMENSIONS.get(str(op.attributes["dimension"]))
        return None if dimension is None or dimension >= len(block) else (dimension, 1)
    if op.name == "arith.addi":
        return _sum([(_own(o, block), o) for o in op.operands])
    if op.name == "arith.muli":
        for factor, other in (op.operands, reversed(list(op.operands))):
            if (number := _constant(factor)) and (own := _own(other, block)):
                return own[0], own[1] * number
    return None


def _sum(terms: Sequence[tuple[tuple[int, int] | None, ir.Value]]) -> tuple[int, int] | None:
    own = [found for found, _ in terms if found is not None]
    alike = all(found is not None or _constant(term) is not None for found, term in terms)
    return own[0] if len(own) == 1 and alike else None


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value
