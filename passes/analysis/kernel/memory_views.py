"""Views of buffers in memory, and the buffers behind them."""

from __future__ import annotations

from iree.compiler import ir

VIEWS = (
    "memref.subview",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.reinterpret_cast",
    "memref.assume_alignment",
    "memref.view",
)
"""Ops whose result is another look at their first operand."""


def buffer_of(view: ir.Value) -> ir.Operation | None:
    """The op that makes the buffer that ``view`` looks at; None where it comes in from outside (a block argument)."""
    while not isinstance(view.owner, ir.Block):
        op = view.owner.operation
        if op.name not in VIEWS:
            return op
        view = op.operands[0]
    return None
