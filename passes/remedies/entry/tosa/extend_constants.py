"""Negative constants of 48 bits, which IREE makes 64 bits of as if they had no sign."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attribute
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .wide_integers import integers_of

_HELD = {"tosa.const": "values", "arith.constant": "value"}
"""Op -> the attribute that holds its elements."""
_LOW = 16
"""Bits of the lower part of a constant that 32 bits do not hold."""


@register_pass
@dataclass(frozen=True)
class ExtendConstants(FrontEndRemedy):
    """Writes a constant tensor of 48 bits with negative elements as one of 32 bits, which the program extends with its sign.

    IREE 3.13's import computes with 64 bits in place of 48, and extends its constants with zeros: a bias of -1 is 281474976710655 (FIS210). Elements
    that 32 bits do not hold are a sum of two parts. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-extend-constants"
    cures: ClassVar[tuple[str, ...]] = ("FIS210",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = tuple(_HELD)
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    does: ClassVar[str] = (
        "writes a constant tensor of 48 bits with negative elements as one of 32 bits, and extends it (in the input of a TOSA program)"
    )
    repairs: ClassVar[str] = (
        "such constants, the biases of layers with 16-bit activations among them, which IREE extends without their sign: wrong numbers on every target "
        "(FIS210)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it with 32 bits, which are extended with their sign"
    advice: ClassVar[str] = "write it with 32 bits, which are extended with their sign"

    def named(self, op: ir.Operation) -> str:
        return op.name

    def fits(self, op: ir.Operation) -> bool:
        return any(number < 0 for number in _elements(op) or ())

    def written(self, op: ir.Operation) -> list[ir.Value]:
        numbers, type_ = _elements(op), ir.RankedTensorType(op.results[0].type)
        assert numbers is not None  # `fits`
        narrow = all(-(1 << 31) <= one < 1 << 31 for one in numbers)
        parts = (
            [numbers] if narrow else [[n >> _LOW for n in numbers], [n & (1 << _LOW) - 1 for n in numbers]]
        )
        given = [_constant(part, type_) for part in parts]
        identity = ir.AffineMap.get_identity(type_.rank)
        empty = tensor.EmptyOp(list(type_.shape), type_.element_type).result
        generic, block = build_generic(given, [empty], [identity] * (len(given) + 1), [True] * type_.rank)
        with ir.InsertionPoint(block):
            wide = [arith.extsi(type_.element_type, value) for value in list(block.arguments)[:-1]]
            linalg.YieldOp([wide[0] if narrow else _joined(wide, type_.element_type)])
        return [generic.results[0]]


def _elements(op: ir.Operation) -> list[int] | None:
    type_ = op.results[0].type
    if not isinstance(type_, ir.RankedTensorType) or str(type_.element_type) != "i48":
        return None
    return integers_of(str(attribute(op, _HELD[op.name])), prod(type_.shape))


def _constant(numbers: list[int], like: ir.RankedTensorType) -> ir.Value:
    type_ = ir.RankedTensorType.get(like.shape, ir.IntegerType.get_signless(32))
    each = [ir.IntegerAttr.get(type_.element_type, number) for number in numbers]
    return arith.ConstantOp(type_, ir.DenseElementsAttr.get(each, type_)).result


def _joined(parts: list[ir.Value], element: ir.Type) -> ir.Value:
    by = arith.ConstantOp(element, ir.IntegerAttr.get(element, _LOW)).result
    return arith.addi(arith.shli(parts[0], by), parts[1])
