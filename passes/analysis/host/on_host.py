"""Where an op runs: on the host, which starts dispatches, or inside of one."""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.ops import UTIL_OPS

from ..program.private_calls import FUNCTIONS

HOST_REGIONS = (
    *FUNCTIONS,
    iree_ops.UTIL_INITIALIZER,
    "scf.for",
    "scf.if",
    "scf.while",
    "scf.index_switch",
    "scf.execute_region",
)
"""Ops whose regions run on the host, outside of any dispatch: an assert may stand there."""

_AROUND = ("builtin.", "func.", UTIL_OPS, "scf.", "affine.")
"""The dialects of the ops around what runs on the host: neither a dispatch nor the body of an op on tensors."""


def is_on_host(op: ir.Operation) -> bool:
    """Whether ``op`` stands outside of every dispatch and of the body of every op on tensors."""
    parent = op.parent
    while parent is not None:
        if not parent.name.startswith(_AROUND):
            return False
        parent = parent.operation.parent
    return True


def ops_on_host(op: ir.Operation) -> Iterator[ir.Operation]:
    """Every op inside of ``op`` that runs on the host, in program order: what is in dispatches and bodies is not looked at."""
    for region in op.regions:
        for block in region.blocks:
            for inner in (o.operation for o in block.operations):
                yield inner
                if inner.name in HOST_REGIONS:
                    yield from ops_on_host(inner)
