"""StableHLO pads of padded tensors that IREE's import joins at wrong positions."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import CONSTANT, PAD, has_static_shape, owner_of


@dataclass(frozen=True)
class Padding:
    """Of a `stablehlo.pad`: elements in front of, behind, and between those of each dimension; negative ones take away."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...]


def padding_of(op: ir.Operation) -> Padding:
    low, high, interior = (
        tuple(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    return Padding(low, high, interior)


def padded_before(op: ir.Operation) -> ir.Operation | None:
    """The `stablehlo.pad` whose result ``op`` pads with the same value, where IREE misplaces the elements; None otherwise.

    IREE 3.13 makes a tensor.pad of the inner op and a tensor.insert_slice with steps of the outer one, and joins the two: it adds the inner
    position to the outer one without the steps (FoldInsertPadIntoFill).
    """
    inner = owner_of(op.operands[0], PAD)
    if (
        inner is None
        or not has_static_shape(inner.operands[0].type)
        or not _same(op.operands[1], inner.operands[1])
    ):
        return None
    before, after = padding_of(inner), padding_of(op)
    if any(before.interior) or min((*before.low, *before.high), default=0) < 0:
        return None
    return (
        inner if any(low and steps for low, steps in zip(before.low, after.interior, strict=True)) else None
    )


def _same(one: ir.Value, other: ir.Value) -> bool:
    if one == other:
        return True
    first, second = owner_of(one, CONSTANT), owner_of(other, CONSTANT)
    return (
        first is not None and second is not None and first.attributes["value"] == second.attributes["value"]
    )


def misread_pads(module: ir.Operation) -> list[ir.Operation]:
    """The outer pads in ``module`` (phase start), in program order."""
    return [op for op in ops_of(module, PAD) if padded_before(op) is not None]
