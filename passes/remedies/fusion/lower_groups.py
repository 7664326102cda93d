"""Turns fissile.group into a dispatch that is formed already when IREE's dispatch creation begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, flow, tensor

from fissile.dialect import ops_of, place_of
from fissile.dialect.operands import init_of, operand
from fissile.dialect.verify import verify_dialect
from fissile.finding import Finding
from fissile.passes.definition import Contract, Pass, PassFailed, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, NO_GROUPS, WELL_FORMED

_PURE_SIZE_OPS = ("arith.", "affine.apply", "affine.min", "affine.max", "tensor.dim")
"""Ops that may be copied in front of the group to compute a size there: they have no effect."""


class _OnlyInside(Exception):
    """A size depends on ``op``, which exists only inside the group."""

    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op.name)
        self.op = op


@register_pass
@dataclass(frozen=True)
class LowerGroups(Pass):
    """Turns each fissile.group into a flow.dispatch.region around the same ops.

    IREE's dispatch creation keeps a region that is there already and makes one dispatch of it. A group that
    a pass made after global optimisation is lowered there. One in the source must be lowered before IREE's
    abi phase: MLIR's inliner crashes on an unregistered op with a region (LLVM 24, IREE 3.13). The sizes of
    results with dynamic dimensions are computed in front of the region; one that cannot be is FIS405, all
    of them at once.
    """

    name: ClassVar[str] = "fissile-lower-groups"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "flow", "tensor")
    contract: ClassVar[Contract] = Contract(
        requires=(WELL_FORMED, DISPATCHES_NOT_FORMED), establishes=(NO_GROUPS,)
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if wrong := verify_dialect(op):
            raise PassFailed(wrong)
        failed = []
        for group in ops_of(op, "fissile.group"):
            try:
                with ir.InsertionPoint(group), group.location:
                    sizes = _result_sizes(group)
                    region = flow.DispatchRegionOp([result.type for result in group.results], sizes, [])
            except _OnlyInside as stuck:
                failed.append(_finding(group, stuck.op))
                continue
            group.regions[0].blocks[0].append_to(region.operation.regions[0])
            for old, new in zip(list(group.results), list(region.operation.results), strict=True):
                old.replace_all_uses_with(new)
            group.erase()
        if failed:
            raise PassFailed(failed)


def _result_sizes(group: ir.Operation) -> list[ir.Value]:
    """The dynamic sizes of all results in order, as values that exist in front of the group."""
    yielded = list(list(group.regions[0].blocks[0].operations)[-1].operation.operands)
    copies: dict[ir.Value, ir.Value] = {}
    sizes = []
    for value in yielded:
        tensor_type = ir.RankedTensorType(value.type)
        sizes += [
            _size(value, i, group, copies) for i in range(tensor_type.rank) if tensor_type.is_dynamic_dim(i)
        ]
    return sizes


def _size(value: ir.Value, position: int, group: ir.Operation, copies: dict) -> ir.Value:
    """The size of dimension ``position`` of ``value``, computed in front of ``group``."""
    tensor_type = ir.RankedTensorType(value.type)
    index = ir.IndexType.get()
    if not tensor_type.is_dynamic_dim(position):
        return arith.constant(index, tensor_type.get_dim_size(position))
    if not _is_inside(value, group):
        return tensor.dim(value, arith.constant(index, position))
    op = value.owner.operation
    if (destination := init_of(op, ir.OpResult(value).result_number)) is not None:
        return _size(destination, position, group, copies)
    if op.name == "tensor.empty":
        before = sum(tensor_type.is_dynamic_dim(i) for i in range(position))
        return _outside(op.operands[before], group, copies)
    if op.name in ("tensor.insert_slice", "tensor.insert"):
        return _size(operand(op, "dest"), position, group, copies)
    if op.name == "tensor.cast":
        return _size(op.operands[0], position, group, copies)
    raise _OnlyInside(op)


def _outside(value: ir.Value, group: ir.Operation, copies: dict) -> ir.Value:
    """``value`` itself where it exists in front of ``group``, else a copy of the pure ops that compute it."""
    if not _is_inside(value, group):
        return value
    if value in copies:
        return copies[value]
    op = value.owner.operation
    if op.name == "tensor.dim" and (position := _constant(op.operands[1])) is not None:
        copies[value] = _size(op.operands[0], position, group, copies)
        return copies[value]
    if not op.name.startswith(_PURE_SIZE_OPS) or op.name == "tensor.dim":
        raise _OnlyInside(op)
    operands: Sequence[ir.Value] = [_outside(operand, group, copies) for operand in op.operands]
    attributes = {named.name: named.attr for named in _attributes(op)}
    copy = ir.Operation.create(op.name, [r.type for r in op.results], operands, attributes)
    for old, new in zip(list(op.results), list(copy.results), strict=True):
        copies[old] = new
    return copies[value]


def _attributes(op: ir.Operation) -> list[ir.NamedAttribute]:
    return [op.attributes[i] for i in range(len(op.attributes))]


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value


def _is_inside(value: ir.Value, group: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block):
        return False  # the group's block has no arguments, and sizes are not those of an inner op's body
    return value.owner.operation.parent == group


def _finding(group: ir.Operation, blame: ir.Operation) -> Finding:
    places = tuple(p for p in (place_of(blame), place_of(group)) if p)
    return Finding(
        code="FIS405",
        message=f"the size of a group's result depends on {blame.name} inside the group",
        subject=group.name,
        places=places,
    )
