"""Whether a value is defined before an op, on every way there."""

from __future__ import annotations

from iree.compiler import ir

from ..bounds.shaped_values import is_argument
from .private_calls import FUNCTIONS


def exists_before(value: ir.Value, anchor: ir.Operation) -> bool:
    """Whether ``value`` is defined before ``anchor`` on every way to it; False where that is not certain."""
    home = value.owner if is_argument(value) else value.owner.operation.block
    inner: ir.Operation | None = anchor
    while inner is not None:
        if inner.block == home:
            return is_argument(value) or _before(value.owner.operation, inner)
        inner = inner.parent.operation if inner.parent is not None else None
        if inner is not None and inner.name in FUNCTIONS:
            # In another block of the function: of those, only the entry block is before everything.
            return home == inner.regions[0].blocks[0]
    return False


def _before(one: ir.Operation, other: ir.Operation) -> bool:
    return one != other and one.is_before_in_block(other)
