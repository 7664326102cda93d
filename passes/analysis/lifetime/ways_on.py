"""Where control goes on: ops that end a block with no block behind it, and how often a counted loop runs."""

from __future__ import annotations

from iree.compiler import ir

from .sizes import constant


def leaves(op: ir.Operation) -> bool:
    """Whether ``op`` ends its block without another block behind it."""
    return (
        op.name.endswith((".return", ".yield", ".condition", ".in_parallel", ".reduce.return"))
        or op.name == "cf.unreachable"
    )


def trips_of(op: ir.Operation) -> int | None:
    """0, 1 or 2 (for more) where the bounds are constants, None where they are not."""
    if op.name != "scf.for":
        return None
    low, high, step = (constant(v) for v in (op.opview.lowerBound, op.opview.upperBound, op.opview.step))
    if low is None or high is None or not step or step < 0:
        return None
    return max(0, min(2, -(-(high - low) // step)))
