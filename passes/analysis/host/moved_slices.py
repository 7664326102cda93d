"""Parts of a tensor that are written to another place of the same tensor: IREE copies such a part inside of one buffer, on the host or in a
dispatch."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.operands import operand
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..bounds.shaped_values import i64s
from .on_host import ops_on_host
from .shared_destinations import root_of

_UNKNOWN = ir.ShapedType.get_dynamic_size()
_SLICES = ("tensor.extract_slice", iree_ops.FLOW_TENSOR_SLICE)


@dataclass(frozen=True)
class MovedSlice:
    """``update`` writes operand number ``operand``, a part of the tensor that it writes to."""

    update: ir.Operation
    operand: int


def moved_slices(module: ir.Operation) -> list[MovedSlice]:
    """All of ``module`` before dispatches are formed, in program order."""
    found = []
    for op in ops_on_host(module):
        if op.name == "tensor.insert_slice":
            source, target = operand(op, "source"), operand(op, "dest")
        elif op.name == iree_ops.FLOW_TENSOR_UPDATE:
            source, target = view_of(op).update, view_of(op).target
        else:
            continue
        if source is None or target is None:
            continue
        part = root_of(source)
        if isinstance(part.owner, ir.Block) or part.owner.operation.name not in _SLICES:
            continue
        if root_of(part.owner.operation.operands[0]) == root_of(target):
            found.append(MovedSlice(op, list(op.operands).index(source)))
    return found


@dataclass(frozen=True)
class CopiedInside:
    """A dispatch loads a part of a buffer and stores it, by ``store``, to another part of the same buffer; the two overlap for certain
    (``sure``), or perhaps."""

    load: ir.Operation
    store: ir.Operation
    sure: bool


def copied_inside(module: ir.Operation) -> list[CopiedInside]:
    """All of ``module``, once dispatches are formed, in program order.

    IREE 3.13 makes a dispatch of a slice that has gaps and the update that takes it (`slow_memcpy`), and ties its result to its operand. Its
    elements are read when others have been written already.
    """
    found = []
    for store in ops_of(module, iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE):
        value, target = store.operands[0], store.operands[1]
        if (
            isinstance(value.owner, ir.Block)
            or value.owner.operation.name != iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD
        ):
            continue
        load = value.owner.operation
        if load.operands[0] == target and (sure := _overlap(load, store)) is not None:
            found.append(CopiedInside(load, store, sure))
    return found


def _overlap(load: ir.Operation, store: ir.Operation) -> bool | None:
    """Whether the two overlap and differ, for certain or perhaps (False); None where they are one part, or beside each other."""
    one, other = _ranges(load), _ranges(store)
    if one == other and not any(_UNKNOWN in row for row in one):
        return None
    sure = all(row[2] == 1 for row in (*one, *other))
    for ranges in zip(one, other, strict=True):
        if any(start == _UNKNOWN for start, _count, _step in ranges):
            sure = False
            continue
        (first, count, step), (last, _count, _step) = sorted(ranges)
        if first == last:
            continue
        if _UNKNOWN in (count, step):
            sure = False
        elif first + (count - 1) * step < last:
            return None
    return sure


def _ranges(op: ir.Operation) -> list[tuple[int, int, int]]:
    """First element, number and step along each dimension."""
    rows = (i64s(op, name) for name in ("static_offsets", "static_sizes", "static_strides"))
    return list(zip(*rows, strict=True))
