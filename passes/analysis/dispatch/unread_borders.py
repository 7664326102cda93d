"""Which operands of structured ops are larger than what the op reads, where a window stands at one position only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from .provenance import source_ops
from .structure import loop_extents, structure_of


@dataclass(frozen=True)
class UnreadBorder:
    """Input ``operand`` of ``op`` has the extents ``have``, of which the first ``read`` are read; both by dimension."""

    op: ir.Operation
    operand: int
    have: tuple[int, ...]
    read: tuple[int, ...]


def unread_borders(module: ir.Operation) -> list[UnreadBorder]:
    """All of ``module`` that IREE 3.13 refuses, in program order.

    It drops loops that run once (FoldUnitExtentDims), and then the window that such a loop moved is indexed by the kernel's
    loop alone: the verifier takes ``2 * d0 + d1`` on a border that is not read, but wants ``d1`` to run over all of it.
    """
    return [found for op in source_ops(module) for found in borders_of(op)]


def borders_of(op: ir.Operation) -> list[UnreadBorder]:
    structure = structure_of(op)
    if structure is None:
        return []
    extents = loop_extents(op, structure)
    found = []
    for position, indexing in enumerate(structure.maps[: len(structure.maps) - len(op.results)]):
        type_ = op.operands[position].type
        if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
            continue
        have = tuple(type_.shape)
        reads = [_read(result, size, extents) for result, size in zip(indexing.results, have, strict=True)]
        read = tuple(min(size, some) for size, some in zip(have, reads, strict=True))
        if read != have:
            found.append(UnreadBorder(op, position, have, read))
    return found


def _read(index: ir.AffineExpr, size: int, extents: Sequence[int | None]) -> int:
    """How many of ``size`` positions are read, where dropping loops that run once leaves a single loop; else ``size``."""
    if isinstance(index, ir.AffineDimExpr):
        return size  # the loop's extent is the operand's
    with index.context:
        kept = [
            ir.AffineConstantExpr.get(0) if extent == 1 else ir.AffineDimExpr.get(loop)
            for loop, extent in enumerate(extents)
        ]
        without = index.compose(ir.AffineMap.get(len(extents), 0, kept))
        left = ir.AffineMap.get(len(extents), 0, [without]).results[0]  # compose gives the base class
    if not isinstance(left, ir.AffineDimExpr):
        return size
    extent = extents[left.position]
    return size if extent is None else extent
