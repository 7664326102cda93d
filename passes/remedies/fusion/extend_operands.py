"""Reads narrow operands in their wide type: extended once, in dispatches of their own, and not inside the op's body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.analysis.dispatch.structure import Structure, loop_structure, structure_of
from fissile.passes.definition import Contract, option, register_pass

from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into, elementwise
from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy
from .place_boundaries import EXTENSIONS, place_boundaries

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class ExtendOperands(OpRemedy):
    """Takes the extension of narrow operands (bf16 to f32, i8 to i32) out of chosen ops, into dispatches of their own.

    IREE folds an extension into the matmul or convolution that reads it, as a mixed-type op: its operands are loaded as
    narrow vectors then, and code generation cannot legalise all of those (bf16 on Vulkan). No boundary reaches into an
    op; this rewrite undoes the folding and puts a `fissile.boundary` behind each extension. The op itself computes with
    the same values in the same order, so the numbers stay; the wide operand goes through global memory.

    ``ops`` chooses source ops by index; without it, every op that reduces and extends an operand. A chosen op whose body
    extends no operand is FIS114.
    """

    name: ClassVar[str] = "fissile-extend-operands"
    order: ClassVar[int] = 110
    cures: ClassVar[tuple[str, ...]] = ("FIS104",)
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "extends a narrow operand (bf16 to f32) behind a boundary, before the matmul or convolution into which IREE "
        "would fold the extension"
    )
    repairs: ClassVar[str] = (
        "mixed-type matmuls whose narrow vectors Vulkan cannot legalise (`vector.bitcast` of bf16)"
    )
    numbers: ClassVar[str] = "the same values; sums may be reordered"
    counterpart: ClassVar[str] = (
        "Nothing: IREE folds extensions into contractions for matrix units that take mixed types."
    )
    done: ClassVar[str] = "extended the narrow operands of {ops} once, in separate dispatches"
    advice: ClassVar[str] = "extend the narrow operands of {ops} once, in separate dispatches"
    refusal: ClassVar[str] = "no operand of {op} can be extended before it: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all that reduce and extend an operand"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        structure = structure_of(op)
        if structure is None:
            return Match("it has no body")
        if structure.all_parallel:
            return Match("it does not reduce")
        if not _extended(op):
            return Match("its body extends no operand")
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        extend_operands(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the wide operands are written once to global memory"


def extend_operands(ops: Iterable[ir.Operation]) -> None:
    """Rewrites ``ops`` in place, each of which matches; they are other operations afterwards."""
    for op in ops:
        with ir.InsertionPoint(op), op.location:
            _rewrite(op, loop_structure(op), _extended(op))


def _extended(op: ir.Operation) -> dict[int, ir.Operation]:
    """The inputs that the body only extends, all in one way, with one of the extensions: by position."""
    found = {}
    inputs = len(op.operands) - len(op.results)
    arguments = op.regions[0].blocks[0].arguments
    for position in range(inputs):
        if not isinstance(op.operands[position].type, ir.RankedTensorType):
            continue
        users = [use.owner.operation for use in arguments[position].uses]
        kinds = {
            (user.name, str(user.results[0].type)) if user.results else (user.name, "") for user in users
        }
        if len(kinds) == 1 and users[0].name in EXTENSIONS:
            found[position] = users[0]
    return found


def _rewrite(op: ir.Operation, structure: Structure, extended: dict[int, ir.Operation]) -> None:
    operands, outputs = list(op.operands), len(op.results)
    old = op.regions[0].blocks[0]
    for position, extension in extended.items():
        operands[position] = elementwise(
            operands[position], extension.results[0].type, partial(_again, extension)
        )
    # As a generic op: the body of a named one would have to be made by the op itself.
    new, block = build_generic(
        operands[:-outputs], operands[-outputs:], structure.maps, structure.parallel, like=op
    )
    values = dict(zip(old.arguments, block.arguments, strict=False))
    for position in extended:
        for use in old.arguments[position].uses:
            values[use.owner.operation.results[0]] = block.arguments[position]
    with ir.InsertionPoint(block):
        for inner in old.operations:
            if not inner.operation.results or inner.operation.results[0] not in values:
                copy_into(inner.operation, values)
    place_boundaries([operands[position].owner for position in extended])
    for result, replacement in zip(list(op.results), new.results, strict=False):
        result.replace_all_uses_with(replacement)
    op.erase()


def _again(extension: ir.Operation, element: ir.Value) -> ir.Value:
    """``extension`` of another element."""
    copy = extension.clone()
    copy.operands[0] = element
    return copy.results[0]
