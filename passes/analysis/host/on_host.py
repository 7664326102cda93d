"""Where an op runs: on the host, which starts dispatches, or inside of one."""

from __future__ import annotations

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

_ENTERED = frozenset(("builtin.module", *HOST_REGIONS))

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


def ops_on_host(module: ir.Operation) -> list[ir.Operation]:
    """Every op inside of ``module`` that runs on the host, in program order: what is in dispatches and bodies is not looked at."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op == module:
            return ir.WalkResult.ADVANCE
        found.append(op)
        return ir.WalkResult.ADVANCE if op.name in _ENTERED else ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
