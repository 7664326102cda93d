"""What a division of integers on the host must keep to: IREE's VM (3.13) divides as the processor does, which ends the process on a
division by 0 and on one of the smallest integer by -1. A slice with a stride that the caller gives is sized by such a division.
"""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from ..bounds.bits.bit_terms import bits_of
from ..bounds.conditions import any_of, different
from ..bounds.extents import Extents
from ..bounds.shaped_values import is_shaped
from ..host.on_host import is_on_host
from .obligations import Requirement
from .structured_rules import elementwise

_SIGNED = ("arith.divsi", "arith.remsi", "arith.ceildivsi", "arith.floordivsi", "index.divs", "index.rems", "index.ceildivs", "index.floordivs")  # fmt: skip
DIVISIONS = (*_SIGNED, "arith.divui", "arith.remui", "arith.ceildivui", "index.divu", "index.remu", "index.ceildivu")  # fmt: skip


def division(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """The divisor of a division on the host whose result is used is not 0, nor -1 where the quotient is too large."""
    if is_shaped(op.results[0]):
        yield from elementwise(extents, op)
        return
    if not is_on_host(op) or not any(True for _ in op.results[0].uses):
        return
    divided, by = (extents.value(operand) for operand in op.operands)
    yield Requirement(different(by, 0), f"divides {divided} by {by}; a divisor is not 0")
    smallest = -(1 << (bits_of(op.results[0].type) - 1))
    if op.name in _SIGNED and extents.bounds_of(by)[0] <= -1 and extents.bounds_of(divided)[0] <= smallest:
        yield Requirement(
            any_of((different(by, -1), different(divided, smallest))),
            f"divides {divided} by {by}; the result of {smallest} by -1 fits no integer of its type",
        )
