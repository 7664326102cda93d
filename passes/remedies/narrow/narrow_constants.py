"""Constant tensors of 64-bit integers that 32 bits hold, as tensors of those, extended where they are used.

IREE emulates 64-bit integers on default Vulkan, but finds no way from a constant of them into its pairs of words (IREE 3.13).
"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.attributes import attribute
from fissile.passes.analysis.scalars.bodies import ops_in_bodies

MOST_ELEMENTS = 1 << 16
"""Larger constants stand in a global, which is storage as any other."""


def has_wide_constants(op: ir.Operation) -> bool:
    """Whether `narrow_constants` changes ``op``, a structured op."""
    return bool(_inputs(op) or _reads(op))


def narrow_constants(op: ir.Operation) -> None:
    """Replaces, in place, constants of i64 with values of 32 bits that ``op`` takes or that its body reads elements of: a constant of i32
    each, whose elements are sign-extended in the body; bit-identical."""
    body = op.regions[0].blocks[0]
    for position in _inputs(op):
        with ir.InsertionPoint(op), op.location:
            op.operands[position] = _in_i32(op.operands[position])
        argument = body.arguments[position]
        wide = argument.type
        argument.set_type(ir.IntegerType.get_signless(32))
        with ir.InsertionPoint.at_block_begin(body), op.location:
            extended = arith.extsi(wide, argument)
        argument.replace_all_uses_except(extended, extended.owner.operation)
    for read in _reads(op):
        with ir.InsertionPoint(op), op.location:
            source = _in_i32(read.operands[0])
        with ir.InsertionPoint(read), read.location:
            extended = arith.extsi(read.results[0].type, tensor.extract(source, list(read.operands)[1:]))
        read.results[0].replace_all_uses_with(extended)
        read.erase()


def _inputs(op: ir.Operation) -> list[int]:
    """Positions of the inputs of ``op`` that are such constants."""
    inputs = list(op.operands)[: len(op.operands) - len(op.results)]
    return [position for position, value in enumerate(inputs) if _in_words(value) is not None]


def _reads(op: ir.Operation) -> list[ir.Operation]:
    """The ops in the body of ``op`` that read an element of such a constant."""
    return [
        inner
        for inner in ops_in_bodies(op)
        if inner.name == "tensor.extract" and _in_words(inner.operands[0]) is not None
    ]


def _in_i32(value: ir.Value) -> ir.Value:
    """The constant ``value`` with elements of 32 bits, at the insertion point."""
    word = ir.IntegerType.get_signless(32)
    tensor_type = ir.RankedTensorType.get(ir.RankedTensorType(value.type).shape, word)
    numbers = [ir.IntegerAttr.get(word, number) for number in _in_words(value) or ()]
    return arith.constant(tensor_type, ir.DenseElementsAttr.get(numbers, tensor_type))


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
