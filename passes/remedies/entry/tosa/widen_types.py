"""Ops of TOSA on element types that its profiles do not have, computed in one that they have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute, attributes
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.values import with_element

_IN_32_BITS = (
    "tosa.abs",
    "tosa.add",
    "tosa.intdiv",
    "tosa.maximum",
    "tosa.minimum",
    "tosa.reduce_sum",
    "tosa.sub",
)
_COMPARISONS = ("tosa.equal", "tosa.greater", "tosa.greater_equal")
_BY_F32 = {("bf16", "f16"), ("bf16", "i1"), ("f16", "bf16"), ("f16", "i1"), ("i1", "bf16"), ("i1", "f16")}
"""The casts that TOSA has only in two steps, each of which is exact, or rounds once."""
_RESCALE, _CLAMP, _CAST = "tosa.rescale", "tosa.clamp", "tosa.cast"
_ANY_ROUNDING, _ONE_ROUNDING = "INEXACT_ROUND", "#tosa.rounding_mode<SINGLE_ROUND>"


@register_pass
@dataclass(frozen=True)
class WidenTypes(FrontEndRemedy):
    """Writes arithmetic on i8 and i16 with 32 bits, casts between f16, bf16 and i1 by way of f32, a clamp of i32 as its two bounds, and the
    rounding of a rescale that may be any as the usual one.

    IREE 3.13's import of TOSA validates the program against TOSA's profiles, and rejects such types and modes. Cutting a sum of 32 bits gives the bits of a
    narrow one. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-widen-types"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (*_IN_32_BITS, *_COMPARISONS, _CLAMP, _CAST, _RESCALE)
    dialects: ClassVar[tuple[str, ...]] = ("tosa",)
    does: ClassVar[str] = (
        "writes TOSA's arithmetic on i8 and i16 with 32 bits, its casts between f16, bf16 and i1 by way of f32, and a clamp of i32 as its bounds (in the "
        "input)"
    )
    repairs: ClassVar[str] = (
        "such ops, and a rescale with INEXACT_ROUND, which IREE rejects on every target (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it with types of TOSA's profiles"
    advice: ClassVar[str] = "write it with types of TOSA's profiles"

    def named(self, op: ir.Operation) -> str:
        return op.name

    def fits(self, op: ir.Operation) -> bool:
        if not all(isinstance(value.type, ir.RankedTensorType) for value in (*op.operands, *op.results)):
            return False
        if op.name == _RESCALE:
            return _ANY_ROUNDING in str(attribute(op, "rounding_mode"))
        elements = {_element(value) for value in op.operands}
        if op.name == _CAST:
            return (_element(op.operands[0]), _element(op.results[0])) in _BY_F32
        if op.name == _CLAMP:
            return elements == {"i32"}
        return elements in ({"i8"}, {"i16"})

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """A rescale stays, with another attribute."""
        others = []
        for one in found:
            if one.name == _RESCALE:
                one.attributes["rounding_mode"] = ir.Attribute.parse(_ONE_ROUNDING, one.context)
            else:
                others.append(one)
        super().replace(others)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        if op.name == _CAST:
            return [_cast(_cast(op.operands[0], "f32"), _element(op.results[0]))]
        if op.name == _CLAMP:
            return [_bounded(op)]
        wide = [_cast(value, "i32") for value in op.operands]
        result = op.results[0].type
        made = result if op.name in _COMPARISONS else with_element(result, ir.IntegerType.get_signless(32))
        computed = ir.Operation.create(op.name, [made], wide, dict(attributes(op)))
        value = computed.results[0]
        return [value if op.name in _COMPARISONS else _cast(value, _element(op.results[0]))]


def _element(value: ir.Value) -> str:
    return str(getattr(value.type, "element_type", ""))


def _cast(value: ir.Value, element: str) -> ir.Value:
    return ir.Operation.create(_CAST, [with_element(value.type, ir.Type.parse(element))], [value]).results[0]


def _bounded(op: ir.Operation) -> ir.Value:
    value = op.operands[0]
    type_ = ir.RankedTensorType(value.type)
    single = ir.RankedTensorType.get([1] * type_.rank, type_.element_type)
    for kind, bound in (("tosa.maximum", "min_val"), ("tosa.minimum", "max_val")):
        number = attribute(op, bound)
        assert isinstance(number, ir.IntegerAttr)
        held = ir.DenseElementsAttr.get([number], single)
        limit = ir.Operation.create("tosa.const", [single], [], {"values": held}).results[0]
        value = ir.Operation.create(kind, [type_], [value, limit]).results[0]
    return value
