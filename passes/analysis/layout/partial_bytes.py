"""Which tensors have elements of less than a byte, in a number that fills no whole number of bytes?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from iree.compiler import ir

from fissile.passes.analysis.dispatch.narrow_types import NARROW_TYPES, type_name
from fissile.passes.iree import ops as iree_ops

_BITS = {name: one.storage_bits for name, one in NARROW_TYPES.items() if one.storage_bits < 8}
_AT_CALLS = (iree_ops.HAL_TENSOR_IMPORT, iree_ops.HAL_TENSOR_EXPORT)


@dataclass(frozen=True)
class PartialBytes:
    """``op`` makes, takes or passes on tensors of ``type``; ``is_passed``: it is an argument or a result of the program, whose bytes the
    caller lays out."""

    op: ir.Operation
    type: ir.RankedTensorType
    is_passed: bool

    @property
    def element(self) -> str:
        return type_name(self.type)

    @property
    def bits(self) -> int:
        """Bits of what has to fill its bytes: of all elements together, or of each row."""
        elements = prod(self.type.shape) if is_partial(self.type) else self.type.shape[-1]
        return elements * _BITS[self.element]

    def __str__(self) -> str:
        return f"{self.type} ({'' if is_partial(self.type) else 'rows of '}{self.bits} bits)"


def partial_bytes(module: ir.Operation) -> list[PartialBytes]:
    """All of ``module``, in program order, one for each op and type.

    IREE 3.13 lays such elements out side by side and rejects a tensor of static sizes whose bytes are not whole (EncodeTensors); of
    dynamic sizes it rounds up. Of floats it rejects a tensor whose rows are not (BitcastUnsupportedElementTypes).
    """
    found: dict[tuple[ir.Operation, str], PartialBytes] = {}

    def look(op: ir.Operation) -> ir.WalkResult:
        for value in _values(op):
            type_ = value.type
            if is_partial(type_) or _has_partial_rows(type_):
                found.setdefault((op, str(type_)), PartialBytes(op, type_, op.name in _AT_CALLS))
        return ir.WalkResult.ADVANCE

    module.walk(look, ir.WalkOrder.PRE_ORDER)
    return list(found.values())


def _values(op: ir.Operation) -> Iterator[ir.Value]:
    yield from op.operands
    yield from op.results


def is_partial(type_: ir.Type) -> bool:
    """Whether the elements of a tensor of ``type_`` fill no whole number of bytes; False for what is no tensor of static sizes."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return False
    bits = _BITS.get(type_name(type_))
    return bits is not None and prod(type_.shape) * bits % 8 != 0


def _has_partial_rows(type_: ir.Type) -> bool:
    """Whether the rows of a tensor of floats below a byte fill no whole bytes."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.rank or type_.is_dynamic_dim(type_.rank - 1):
        return False
    narrow = NARROW_TYPES.get(type_name(type_))
    return narrow is not None and narrow.is_float and type_.shape[-1] * narrow.storage_bits % 8 != 0
