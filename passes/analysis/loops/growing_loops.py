"""Loops that carry a tensor whose size changes, from one whose size is a constant: IREE keeps the first size."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.operands import inits, operands_named
from fissile.dialect.views import view_of
from fissile.finding import Place

from ..dispatch.provenance import place_of

FOR, _EMPTY, _CONCAT = "scf.for", "tensor.empty", "tensor.concat"
_INTO = {"tensor.insert": "dest", "tensor.insert_slice": "dest", "tensor.cast": "source"}


@dataclass(frozen=True)
class GrowingLoop:
    """``loop`` carries a tensor that begins with ``sizes`` (operands of tensor.empty, constants); it ``grows`` for certain, or it may."""

    loop: ir.Operation
    empty: ir.Operation
    sizes: tuple[int, ...]
    """Positions of the constant sizes among the operands of ``empty``."""
    first: tuple[int, ...]
    grows: bool
    place: Place | None


def growing_loops(module: ir.Operation) -> list[GrowingLoop]:
    """Every such loop of ``module``, before IREE's first canonicalisation (phase input).

    MLIR's canonicaliser makes the type of a loop's tensor static where the first tensor's is, and casts what the body yields to it
    (ForOpTensorCastFolder): that holds only where the size never changes. A size is known to stay where the yielded tensor is the
    loop's own, or one that was written into it.
    """
    found: list[GrowingLoop] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == FOR:
            found.extend(_of(op))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _of(loop: ir.Operation) -> list[GrowingLoop]:
    block = loop.regions[0].blocks[0]
    ends = list(block.operations[len(block.operations) - 1].operation.operands)
    found = []
    for init, carried, yielded in zip(view_of(loop).initArgs, list(block.arguments)[1:], ends, strict=True):
        empty = _empty(init)
        if (
            empty is None
            or not isinstance(carried.type, ir.RankedTensorType)
            or _keeps_size(yielded, carried)
        ):
            continue
        constant = {
            number: value
            for number, size in enumerate(empty.operands)
            if (value := _constant(size)) is not None
        }
        if constant:
            found.append(
                GrowingLoop(
                    loop,
                    empty,
                    tuple(constant),
                    tuple(constant.values()),
                    _grows(yielded, carried),
                    place_of(loop),
                )
            )
    return found


def _empty(value: ir.Value) -> ir.Operation | None:
    """The tensor.empty of dynamic size that ``value`` is, or is filled into."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == _EMPTY:
            return op if len(op.operands) else None
        if op.name != "linalg.fill":
            return None
        [value] = operands_named(op, "outputs")
    return None


def _keeps_size(value: ir.Value, carried: ir.Value) -> bool:
    if value == carried:
        return True
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name in _INTO:
        return _keeps_size(getattr(view_of(op), _INTO[op.name]), carried)
    number = list(op.results).index(value)
    if op.name.startswith("linalg.") and (destinations := inits(op)):
        return _keeps_size(destinations[number], carried)
    if op.name == FOR:
        inner = op.regions[0].blocks[0]
        ends = inner.operations[len(inner.operations) - 1].operation.operands
        return _keeps_size(view_of(op).initArgs[number], carried) and _keeps_size(
            ends[number], inner.arguments[1 + number]
        )
    if op.name == "scf.if":
        blocks = [region.blocks[0] for region in op.regions]
        return all(
            _keeps_size(b.operations[len(b.operations) - 1].operation.operands[number], carried)
            for b in blocks
        )
    if op.name == _EMPTY:
        return all(_is_size_of(size, carried) for size in op.operands)
    return False


def _is_size_of(size: ir.Value, carried: ir.Value) -> bool:
    return (
        not isinstance(size.owner, ir.Block)
        and size.owner.operation.name == "tensor.dim"
        and view_of(size.owner).source == carried
    )


def _grows(value: ir.Value, carried: ir.Value) -> bool:
    """Whether ``value`` is ``carried`` with something behind or before it."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != _CONCAT:
        return False
    op = value.owner.operation
    along = ir.IntegerAttr(op.attributes["dim"]).value
    others = [v for v in op.operands if v != carried]
    return len(others) == len(op.operands) - 1 and any(
        not (tensor_type := ir.RankedTensorType(v.type)).is_dynamic_dim(along)
        and tensor_type.get_dim_size(along) > 0
        for v in others
    )


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value
