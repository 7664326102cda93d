"""The ops in the body of an op."""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir


def ops_in_bodies(op: ir.Operation) -> Iterator[ir.Operation]:
    """Every op in the regions of ``op``, at any depth, in program order."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from ops_in_bodies(inner.operation)
