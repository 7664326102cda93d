"""The bits of constants with elements below a byte, which MLIR's Python bindings give no access to."""

from __future__ import annotations

import re
from math import prod

from iree.compiler import ir

from fissile.passes.analysis.dispatch.narrow_types import NarrowType

_DENSE = re.compile(r'dense<(?:"0x(?P<hex>[0-9A-Fa-f]*)"|(?P<numbers>[^"]*))> : tensor<.*')
_NUMBER = re.compile(r"-?\d+(?:\.\d+(?:[eE][+-]?\d+)?)?")
_F4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The values of f4E2M1FN by their bits, without the sign; f4E2M1FN has neither infinities nor NaN (OCP Microscaling, section 5.3.3)."""
_F4_SIGN = 8


def constant_bits(held: ir.Attribute | None, narrow: NarrowType) -> list[int] | None:
    """The bits of each element of ``held``, the dense value of an `arith.constant` of ``narrow`` elements, in its order.

    None where ``held`` is not written out in the program (a resource), or where ``narrow`` is neither i2, i4 nor f4E2M1FN.
    """
    if not isinstance(held, ir.DenseElementsAttr) or narrow.name not in ("i2", "i4", "f4E2M1FN"):
        return None
    # MLIR writes many elements as bytes, one for each.
    text = _DENSE.fullmatch(str(held))
    if text is None:
        return None
    mask = (1 << narrow.storage_bits) - 1
    if text["hex"] is not None:
        bits = [one & mask for one in bytes.fromhex(text["hex"])]
    else:
        numbers = _NUMBER.findall(text["numbers"])
        bits = [_f4(one) if narrow.is_float else int(one) & mask for one in numbers]
    count = prod(ir.RankedTensorType(held.type).shape)
    return bits * count if len(bits) == 1 else bits if len(bits) == count else None


def _f4(number: str) -> int:
    return _F4.index(abs(float(number))) | (_F4_SIGN if number.startswith("-") else 0)
