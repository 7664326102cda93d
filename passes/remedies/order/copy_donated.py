"""Has IREE read a copy of an argument whose buffer a result is written to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operands_named
from fissile.finding import Finding
from fissile.passes.analysis.order.donated_storage import aliases, imports_of_storage
from fissile.passes.analysis.program.private_calls import function_of
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.host.held_tensors import held_copy, unknown_true
from fissile.passes.remedies.narrow.packed_words import sizes_of
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class CopyDonated(Remedy):
    """Copies each argument whose buffer a result is written to, for all that reads it, and has that result depend on the copy.

    So the argument is read once, before the result is written. ``aliases`` chooses by function and number (`main:0`, of the results with
    storage); without it, all. Results of another type than the argument's, or whose elements are complex, are left.
    """

    name: ClassVar[str] = "fissile-copy-donated"
    cures: ClassVar[tuple[str, ...]] = ("FIS229",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "reads copies of the arguments whose buffers results are written to"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a result is written to the buffer of an argument that is still read (FIS229)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "read a copy of the argument"
    advice: ClassVar[str] = "read a copy of the argument"
    dialects: ClassVar[tuple[str, ...]] = ("util", "flow", "arith", "linalg", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))
    aliases: tuple[str, ...] = option(
        (), "FUNCTION:NUMBER of the results whose arguments to copy, numbers from 0; empty: all"
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        copies: dict[ir.Value, ir.Value] = {}
        for alias in self._chosen(op):
            for imported in imports_of_storage(alias):
                argument = copies.get(imported.results[0], imported.results[0])
                if not _can_wait(alias.operands[0].type, argument.type):
                    continue
                if argument == imported.results[0]:
                    copies[argument] = argument = _copied(imported)
                with ir.InsertionPoint(alias), alias.location:
                    alias.operands[0] = _behind(alias.operands[0], argument)

    def _chosen(self, module: ir.Operation) -> Iterator[ir.Operation]:
        for op in module.regions[0].blocks[0].operations:
            if op.operation.name == iree_ops.UTIL_FUNC and len(op.operation.regions[0].blocks):
                name = function_of(op.operation)
                for number, alias in enumerate(aliases(op.operation)):
                    if not self.aliases or f"{name}:{number}" in self.aliases:
                        yield alias


def _can_wait(result: ir.Type, argument: ir.Type) -> bool:
    """Whether `_copied` and `_behind` serve a result and an argument of these types."""
    element = ir.RankedTensorType(result).element_type
    is_number = isinstance(element, ir.FloatType) or (
        isinstance(element, ir.IntegerType) and element.is_signless
    )
    return is_number and result == argument


def _copied(imported: ir.Operation) -> ir.Value:
    """A copy of what ``imported`` is, which all that used it uses instead."""
    argument = imported.results[0]
    uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
    with ir.InsertionPoint.after(imported), imported.location:
        copy = held_copy(argument, operands_named(imported, "target_dims"), by_dispatch=True)
    for user, number in uses:
        if user.name != "tensor.dim":
            user.operands[number] = copy
    return copy


def _behind(result: ir.Value, copy: ir.Value) -> ir.Value:
    """``result``, computed by an op that needs ``copy`` as well: nothing but a run says that it does not change the numbers."""
    flag = unknown_true()
    type_ = ir.RankedTensorType(result.type)
    identity = ir.AffineMap.get_identity(type_.rank)
    init = tensor.EmptyOp(sizes_of(result), type_.element_type).result
    op, block = build_generic([result, copy], [init], [identity] * 3, [True] * type_.rank)
    with ir.InsertionPoint(block):
        linalg.YieldOp([arith.select(flag, block.arguments[0], block.arguments[1])])
    return op.results[0]
