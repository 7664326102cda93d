"""Builds a `linalg.generic`: the op with an empty body of the right arguments. Every remedy that makes one makes it here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iree.compiler import ir

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.structure import iterators_attribute, maps_attribute


def build_generic(
    inputs: Sequence[ir.Value],
    inits: Sequence[ir.Value],
    maps: Iterable[ir.AffineMap],
    parallel: Iterable[bool],
    like: ir.Operation | None = None,
) -> tuple[ir.Operation, ir.Block]:
    """The op, at the insertion point, and its body, which the caller fills. ``like`` lends its discardable attributes."""
    op = linalg.GenericOp(
        [init.type for init in inits],
        list(inputs),
        list(inits),
        maps_attribute(list(maps)),
        iterators_attribute(list(parallel)),
    ).operation
    for named in discardable_attributes(like) if like is not None else ():
        op.attributes[named.name] = named.attr
    return op, op.regions[0].blocks.append(*[element_type(v.type) for v in (*inputs, *inits)])


def discardable_attributes(op: ir.Operation) -> list[ir.NamedAttribute]:
    """Attributes that are not the op's own: those of another dialect (`dialect.name`), or with a leading `_`."""
    named = [op.attributes[i] for i in range(len(op.attributes))]
    return [n for n in named if n.name.startswith("_") or "." in n.name and not n.name.startswith("linalg.")]


def element_type(type_: ir.Type) -> ir.Type:
    """The type of the elements of a tensor or a memref; a scalar's own."""
    return type_.element_type if isinstance(type_, (ir.RankedTensorType, ir.MemRefType)) else type_
