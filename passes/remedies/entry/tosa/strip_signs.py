"""Unsigned integers of TOSA, as integers without a sign."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import attribute
from fissile.dialect.places import ops_of
from fissile.finding import Finding, Severity
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..front_end import FRONT_END_OP

_FUNCTION, _RESCALE = "func.func", "tosa.rescale"
_MOVING = (
    "func.call",
    "func.return",
    "tosa.concat", "tosa.const", "tosa.gather", "tosa.identity", "tosa.pad", "tosa.reshape", "tosa.reverse", "tosa.scatter", "tosa.select", "tosa.slice",
    "tosa.tile", "tosa.transpose",
)  # fmt: skip
"""Ops that move the bits of their operands, or have none."""
_UNSIGNED = re.compile(r"ui(\d+)\b")


@register_pass
@dataclass(frozen=True)
class StripSigns(Remedy):
    """Makes integers without a sign of the unsigned ones of a TOSA program, whose `tosa.rescale` says which operand and result is unsigned.

    IREE 3.13's import removes the signs behind the conversion of TOSA, which by then has made a constant of a zero point whose type MLIR rejects. A
    program with another op on unsigned integers stays as it is. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-strip-signs"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP,)
    exactness: ClassVar[Exactness] = Exactness.BITS
    dialects: ClassVar[tuple[str, ...]] = ()
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    does: ClassVar[str] = (
        "makes integers without a sign of the unsigned ones that `tosa.rescale` takes or gives (in the input)"
    )
    repairs: ClassVar[str] = "TOSA programs of unsigned bytes, which IREE rejects on every target (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "removed the signs of the types; the ops say them"
    advice: ClassVar[str] = "remove the signs of the types; the ops say them"

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        rescales = [one for one in ops_of(op, _RESCALE) if any(map(_is_unsigned, _values(one)))]
        ops = [one for one in _all(op) if _holds_unsigned(one)]
        if not rescales or not all(_can_lose_signs(one) for one in ops):
            return
        places = tuple(place for one in rescales[:4] if (place := place_of(one)))
        count = "" if len(rescales) == 1 else f", {len(rescales)} times"
        report(
            Finding(
                FRONT_END_OP,
                f"IREE has no lowering for {_RESCALE} of unsigned integers{count}",
                Severity.REPAIRED,
                subject=_RESCALE,
                places=places,
                helps=(self.help(("pass", self.name), ("numerics", self.numbers)),),
            )
        )
        for one in ops:
            _strip(one)


def _all(root: ir.Operation) -> Iterator[ir.Operation]:
    for region in root.regions:
        for block in region:
            for op in block:
                yield op.operation
                yield from _all(op.operation)


def _values(op: ir.Operation) -> list[ir.Value]:
    inside = [argument for region in op.regions for block in region for argument in block.arguments]
    return [*op.operands, *op.results, *inside]


def _is_unsigned(value: ir.Value) -> bool:
    return _UNSIGNED.search(str(value.type)) is not None


def _holds_unsigned(op: ir.Operation) -> bool:
    return any(map(_is_unsigned, _values(op))) or (
        op.name == _FUNCTION and _UNSIGNED.search(str(attribute(op, "function_type"))) is not None
    )


def _can_lose_signs(op: ir.Operation) -> bool:
    if op.name == _RESCALE:
        sides = (("input_unsigned", op.operands[0]), ("output_unsigned", op.results[0]))
        return all(str(attribute(op, flag)) == "true" for flag, value in sides if _is_unsigned(value))
    return op.name in (_FUNCTION, *_MOVING)


def _strip(op: ir.Operation) -> None:
    """Of what ``op`` defines; its operands lose them where they are defined."""
    if op.name == "tosa.const":
        op.attributes["values"] = _stripped(op.attributes["values"])
    if op.name == _FUNCTION:
        text = _without_sign(str(op.attributes["function_type"]))
        op.attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse(text, op.context))
    inside = [argument for region in op.regions for block in region for argument in block.arguments]
    for value in (*op.results, *inside):
        if _is_unsigned(value):
            value.set_type(ir.Type.parse(_without_sign(str(value.type)), op.context))


def _stripped(held: ir.Attribute) -> ir.Attribute:
    """The bits stay: MLIR reads a number without a sign as either."""
    text, _colon, type_ = str(held).rpartition(" : ")
    return ir.Attribute.parse(f"{text} : {_without_sign(type_)}", held.context)


def _without_sign(text: str) -> str:
    return _UNSIGNED.sub(r"i\1", text)
