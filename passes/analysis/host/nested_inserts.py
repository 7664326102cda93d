"""Tensors that are put into larger ones twice, once with steps, and that IREE puts there at once, at other places."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.operands import operand
from fissile.dialect.views import view_of
from fissile.finding import Place

from ..bounds.shaped_values import i64s
from ..dispatch.provenance import place_of
from .on_host import ops_on_host

INSERT, PAD, FILL = "tensor.insert_slice", "tensor.pad", "linalg.fill"


@dataclass(frozen=True)
class NestedInsert:
    """``outer`` puts the result of ``inner`` into a larger tensor; the rest of both is one value."""

    outer: ir.Operation
    inner: ir.Operation
    place: Place | None


def nested_inserts(module: ir.Operation) -> list[NestedInsert]:
    """Those of ``module``, before dispatches are formed, that IREE joins to one with wrong positions.

    IREE 3.13 joins two that surround the tensor with one value. It adds the positions up (FoldInsertPadIntoFill and its like in MLIR), and
    neither multiplies the inner one by the steps of the outer op nor keeps the steps of the inner op.
    """
    found = []
    for op in ops_on_host(module):
        if op.name not in (INSERT, PAD):
            continue
        source = operand(op, "source")
        if source is None or isinstance(source.owner, ir.Block):
            continue
        inner = source.owner.operation
        if inner.name in (INSERT, PAD) and _is_misplaced(op, inner) and _same(_around(op), _around(inner)):
            found.append(NestedInsert(op, inner, place_of(op)))
    return found


def _is_misplaced(outer: ir.Operation, inner: ir.Operation) -> bool:
    if _steps(outer):
        lows = (
            zip(i64s(outer, "static_strides"), i64s(inner, "static_low"), strict=True)
            if inner.name == PAD
            else ()
        )
        return any(step != 1 and low != 0 for step, low in lows)
    return _steps(inner)


def _steps(op: ir.Operation) -> bool:
    """Whether ``op`` leaves gaps between the elements that it puts into a tensor."""
    return op.name == INSERT and any(step != 1 for step in i64s(op, "static_strides"))


def _around(op: ir.Operation) -> ir.Value | None:
    """The value of all elements around what ``op`` puts there; None where there is no such value."""
    if op.name == PAD:
        end = op.regions[0].blocks[0].operations
        value = end[len(end) - 1].operands[0]
        return None if isinstance(value.owner, ir.Block) and value.owner == op.regions[0].blocks[0] else value
    around = operand(op, "dest")
    if around is None or isinstance(around.owner, ir.Block) or around.owner.operation.name != FILL:
        return None
    return view_of(around.owner).inputs[0]


def _same(one: ir.Value | None, other: ir.Value | None) -> bool:
    if one is None or other is None:
        return False
    if one == other:
        return True
    owners = [value.owner for value in (one, other)]
    if any(isinstance(owner, ir.Block) or owner.operation.name != "arith.constant" for owner in owners):
        return False
    return owners[0].operation.attributes["value"] == owners[1].operation.attributes["value"]
