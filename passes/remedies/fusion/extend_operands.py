"""Reads narrow operands in their wide type: extended once, in dispatches of their own, and not inside the op's body."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import place_of, register
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.structure import Structure, structure_of
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS, NO_BOUNDARIES, NO_FISSILE_OPS

from ..chosen_ops import able_ops
from ..rebuilt_ops import copy_into, discardable_attributes, element_type, elementwise
from .place_boundaries import EXTENSIONS, place_boundaries


@register_pass
@dataclass(frozen=True)
class ExtendOperands(Pass):
    """Takes the extension of narrow operands (bf16 to f32, i8 to i32) out of chosen ops, into dispatches of their own.

    IREE folds an extension into the matmul or convolution that reads it, as a mixed-type op: its operands are loaded as
    narrow vectors then, and code generation cannot legalise all of those (bf16 on Vulkan). No boundary reaches into an
    op; this rewrite undoes the folding and puts a `fissile.boundary` behind each extension. The op itself computes with
    the same values in the same order, so the numbers stay; the wide operand goes through global memory.

    ``ops`` chooses source ops by index; without it, every op that reduces and extends an operand. A chosen op whose body
    extends no operand is FIS124.
    """

    name: ClassVar[str] = "fissile-extend-operands"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    contract: ClassVar[Contract] = Contract(
        requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS), invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS)
    )
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all that reduce and extend an operand"
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        register(op.context)
        extend_operands(able_ops(op, self.ops, self.name, why_not_extended, _refusal))


def why_not_extended(op: ir.Operation) -> str:
    """Why ``op`` has no operand to extend before it; empty where it has."""
    structure = structure_of(op)
    if structure is None:
        return "it has no body"
    if structure.all_parallel:
        return "it does not reduce"
    if not _extended(op):
        return "its body extends no operand"
    return ""


def extend_operands(ops: Iterable[ir.Operation]) -> None:
    """Rewrites ``ops`` in place, for each of which `why_not_extended` is empty; they are other operations afterwards."""
    for op in ops:
        with ir.InsertionPoint(op), op.location:
            _rewrite(op, structure_of(op), _extended(op))


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
            operands[position], extension.results[0].type, lambda e, x=extension: _again(x, e)
        )
    # As a generic op: the body of a named one would have to be made by the op itself.
    new = linalg.GenericOp(
        [r.type for r in op.results],
        operands[:-outputs],
        operands[-outputs:],
        structure.maps_attribute,
        structure.iterators_attribute,
    )
    for named in discardable_attributes(op):
        new.operation.attributes[named.name] = named.attr
    block = new.regions[0].blocks.append(*[element_type(v.type) for v in operands])
    values = dict(zip(old.arguments, block.arguments))
    for position in extended:
        for use in old.arguments[position].uses:
            values[use.owner.operation.results[0]] = block.arguments[position]
    with ir.InsertionPoint(block):
        for inner in old.operations:
            if not inner.operation.results or inner.operation.results[0] not in values:
                copy_into(inner.operation, values)
    place_boundaries([operands[position].owner for position in extended])
    for result, replacement in zip(list(op.results), new.results):
        result.replace_all_uses_with(replacement)
    op.erase()


def _again(extension: ir.Operation, element: ir.Value) -> ir.Value:
    """``extension`` of another element."""
    copy = extension.clone()
    copy.operands[0] = element
    return copy.results[0]


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding(
        "FIS124",
        f"no operand of {op.name} can be extended before it: {why}",
        subject=op.name,
        places=(place,) if place else (),
    )
