"""The ops in the body of an op."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from iree.compiler import ir


def ops_in_bodies(op: ir.Operation) -> Iterator[ir.Operation]:
    """Every op in the regions of ``op``, at any depth, in program order."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from ops_in_bodies(inner.operation)


def functions_in_bodies(op: ir.Operation, names: Collection[str]) -> list[ir.Operation]:
    """The ops with one of ``names`` in the regions of ``op``, of floats of 32 bits or less."""
    named = (one for one in ops_in_bodies(op) if one.name in names)
    return [
        one
        for one in named
        if isinstance(one.results[0].type, ir.FloatType) and one.results[0].type.width <= 32
    ]
