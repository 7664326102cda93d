"""A scatter's mask has to stay booleans: how are they bound in whole words where storage holds words only?

IREE takes no mask of 32 bits, and reads booleans one by one, which is right as long as their bytes fill the last word. Rows of
updates that the mask leaves out are added until they do.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operand, operands_named

from ..generic_ops import element_type
from ..rebuilt_ops import elementwise
from .float_bits import word
from .packed_words import Size, ceildiv, sizes_of, times

_BYTES_PER_WORD = 4
_EXTENDED = ("updates", "indices", "mask")


def in_whole_words(scatter: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """``operands``, the 32-bit forms of those of ``scatter`` (its mask's among them), as a scatter takes them."""
    given = dict(zip(scatter.operands, operands, strict=True))
    (mask,) = operands_named(scatter, "mask")
    last = ir.RankedTensorType(mask.type).rank - 1
    size = sizes_of(given[mask])[last]
    wanted = times(ceildiv(size, _BYTES_PER_WORD), _BYTES_PER_WORD)
    changed = {
        operand(scatter, name): _longer(given[operand(scatter, name)], last, wanted) for name in _EXTENDED
    }
    boolean = ir.IntegerType.get_signless(1)
    changed[mask] = elementwise(
        changed[mask], boolean, lambda one: arith.cmpi(arith.CmpIPredicate.ne, one, word(0))
    )
    return [changed.get(old, new) for old, new in zip(scatter.operands, operands, strict=True)]


def _longer(value: ir.Value, dimension: int, wanted: Size) -> ir.Value:
    """``value`` with zeros behind it, ``wanted`` elements along ``dimension``."""
    before = sizes_of(value)
    if before[dimension] == wanted:
        return value
    after = [wanted if i == dimension else size for i, size in enumerate(before)]
    type_ = element_type(value.type)
    zero = arith.constant(type_, 0.0 if isinstance(type_, ir.FloatType) else 0)
    filled = linalg.fill(zero, outs=[tensor.EmptyOp(after, type_).result])
    dynamic = ir.ShapedType.get_dynamic_size()
    return tensor.insert_slice(
        value,
        filled,
        [],
        [size for size in before if not isinstance(size, int)],
        [],
        [0] * len(before),
        [size if isinstance(size, int) else dynamic for size in before],
        [1] * len(before),
    )
