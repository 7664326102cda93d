"""Values without a rank: which there are, and which op needs to know it."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Place

from .units import functions, op_name, units

_UNRANKED = ("tensor<*", "!torch.vtensor<*", "memref<*")


@dataclass(frozen=True)
class Unranked:
    """A value of ``type`` made at ``place`` by ``maker``, an op or `argument 2 of @main`; ``users`` read it."""

    maker: str
    type: str
    place: Place | None
    users: tuple[tuple[str, Place | None], ...]


def unranked_values(module: ir.Operation) -> list[Unranked]:
    """The values without a rank that come from outside or from an op with ranked operands alone: the others follow from these."""
    found = []
    for function in functions(module):
        name = str(function.attributes["sym_name"]).strip('"')
        for number, argument in enumerate(function.regions[0].blocks[0].arguments):
            if _is_unranked(argument):
                found.append(_described(argument, f"argument {number} of @{name}", place_of(function)))
    for unit in units(module):
        if any(map(_is_unranked, unit.op.operands)):
            continue
        found += [
            _described(result, unit.name, unit.place) for result in unit.op.results if _is_unranked(result)
        ]
    return found


def is_unranked(type_: ir.Type) -> bool:
    return str(type_).startswith(_UNRANKED)


def _is_unranked(value: ir.Value) -> bool:
    return is_unranked(value.type)


def _described(value: ir.Value, maker: str, place: Place | None) -> Unranked:
    users = [use.owner.operation for use in value.uses]
    return Unranked(maker, str(value.type), place, tuple((op_name(op), place_of(op)) for op in users))
