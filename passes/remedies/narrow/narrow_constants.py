"""Constant tensors of 64-bit integers that 32 bits hold, as tensors of those, extended where they are used.

IREE emulates 64-bit integers on default Vulkan, but finds no way from a constant of them into its pairs of words (IREE 3.13).
"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.attributes import attribute

MOST_ELEMENTS = 1 << 16
"""Larger constants stand in a global, which is storage as any other."""


def wide_constants(op: ir.Operation) -> list[int]:
    """Positions of the inputs of ``op``, a structured op, that are constants of i64 with values of 32 bits."""
    inputs = list(op.operands)[: len(op.operands) - len(op.results)]
    return [position for position, value in enumerate(inputs) if _in_words(value) is not None]


def narrow_constants(op: ir.Operation) -> None:
    """Replaces them in place: a constant of i32 each, sign-extended at the start of the body; bit-identical."""
    body = op.regions[0].blocks[0]
    word = ir.IntegerType.get_signless(32)
    for position in wide_constants(op):
        value = op.operands[position]
        tensor_type = ir.RankedTensorType.get(ir.RankedTensorType(value.type).shape, word)
        with ir.InsertionPoint(op), op.location:
            op.operands[position] = arith.constant(
                tensor_type,
                ir.DenseElementsAttr.get(
                    [ir.IntegerAttr.get(word, n) for n in _in_words(value) or ()], tensor_type
                ),
            )
        argument = body.arguments[position]
        wide = argument.type
        argument.set_type(word)
        with ir.InsertionPoint.at_block_begin(body), op.location:
            extended = arith.extsi(wide, argument)
        argument.replace_all_uses_except(extended, extended.owner.operation)


def _in_words(value: ir.Value) -> list[int] | None:
    """The elements of a constant of i64 in its order; None where it is none, is large, or 32 bits do not hold them."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    held = attribute(value.owner.operation, "value")
    if (
        not isinstance(value.type, ir.RankedTensorType)
        or str(value.type.element_type) != "i64"
        or not isinstance(held, ir.DenseIntElementsAttr)
    ):
        return None
    if len(held) > MOST_ELEMENTS:
        return None
    numbers = [int(number) for number in held]
    return numbers if all(-(1 << 31) <= number < 1 << 31 for number in numbers) else None
