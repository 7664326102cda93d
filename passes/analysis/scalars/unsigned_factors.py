"""Sums of products in which 8-bit numbers without a sign are factors."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

_EXTENSIONS = ("arith.extsi", "arith.extui")
_UNSIGNED = "arith.extui"
_BYTE, _WORD = "i8", "i32"


@dataclass(frozen=True)
class Factor:
    """One of two operands whose products an op adds up: its ``position``, and the ``extension`` of its elements in the body."""

    position: int
    extension: ir.Operation

    @property
    def unsigned(self) -> bool:
        return self.extension.name == _UNSIGNED


def factors_of(op: ir.Operation) -> tuple[Factor, Factor] | None:
    """The factors of a structured op that adds up products of two 8-bit integers in 32 bits, each extended in the body; None for others."""
    block = op.regions[0].blocks[0]
    arguments, body = list(block.arguments), [inner.operation for inner in block.operations]
    if (
        len(arguments) != 3
        or len(body) != 5
        or sorted(inner.name for inner in body[2:4]) != ["arith.addi", "arith.muli"]
    ):
        return None
    multiply, add = body[2:4]
    found = [_factor(operand, arguments) for operand in multiply.operands]
    if multiply.name != "arith.muli" or None in found or str(multiply.results[0].type) != _WORD:
        return None
    if set(add.operands) != {arguments[2], multiply.results[0]} or list(body[4].operands) != [add.results[0]]:
        return None
    first, second = sorted((one for one in found if one is not None), key=lambda one: one.position)
    return (first, second) if (first.position, second.position) == (0, 1) else None


def _factor(value: ir.Value, arguments: list[ir.Value]) -> Factor | None:
    if isinstance(value.owner, ir.Block):
        return None
    extension = value.owner.operation
    if extension.name not in _EXTENSIONS or extension.operands[0] not in arguments[:2]:
        return None
    if str(extension.operands[0].type) != _BYTE:
        return None
    return Factor(arguments.index(extension.operands[0]), extension)


def unsigned_factors(op: ir.Operation) -> tuple[Factor, ...]:
    """Those of ``op`` that have no sign."""
    return tuple(one for one in factors_of(op) or () if one.unsigned)
