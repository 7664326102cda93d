"""Slices and updates of IREE's own, which copy one range of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from .on_host import ops_on_host

SLICE, UPDATE = iree_ops.FLOW_TENSOR_SLICE, iree_ops.FLOW_TENSOR_UPDATE
Size: TypeAlias = "int | ir.Value"


@dataclass(frozen=True)
class ScatteredRange:
    """``op`` reads or writes a part of a tensor, of ``part`` elements in each dimension, of which not all are known to follow each other.

    ``whole``: the tensor's own sizes. A size that is not static is a value.
    """

    op: ir.Operation
    whole: tuple[Size, ...]
    part: tuple[Size, ...]
    place: Place | None


def scattered_ranges(module: ir.Operation) -> list[ScatteredRange]:
    """Every such op of ``module``, before dispatches are formed, in program order.

    IREE 3.13 copies from the position of the first element as many bytes as the part has (EncodeHostTensors), and makes these ops
    itself only of parts that lie in one piece.
    """
    found = []
    for op in ops_on_host(module):
        if op.name in (SLICE, UPDATE):
            whole, part = _sizes(op)
            if not _in_one_piece(whole, part):
                found.append(ScatteredRange(op, whole, part, place_of(op)))
    return found


def _sizes(op: ir.Operation) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    view = view_of(op)
    if op.name == SLICE:
        return _of(view.source, view.source_dims), tuple(map(_known, view.lengths))
    return _of(view.target, view.target_dims), _of(view.update, view.update_dims)


def _of(tensor: ir.Value, dynamic: Sequence[ir.Value]) -> tuple[Size, ...]:
    type_, left = ir.RankedTensorType(tensor.type), iter(dynamic)
    return tuple(
        _known(next(left)) if type_.is_dynamic_dim(d) else type_.get_dim_size(d) for d in range(type_.rank)
    )


def _known(size: ir.Value) -> Size:
    if isinstance(size.owner, ir.Block) or size.owner.operation.name != "arith.constant":
        return size
    return ir.IntegerAttr(size.owner.operation.attributes["value"]).value


def _in_one_piece(whole: Sequence[Size], part: Sequence[Size]) -> bool:
    """Whether only one dimension is cut, and those outside of it have one element in the part."""
    cut = [d for d, (all_, some) in enumerate(zip(whole, part, strict=True)) if all_ != some]
    return not cut or all(some == 1 for some in part[: cut[-1]])
