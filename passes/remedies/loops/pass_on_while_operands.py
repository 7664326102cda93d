"""Has the condition of a while loop pass on what the loop starts with: all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.finding import Finding
from fissile.passes.analysis.loops.while_operands import Untaken, untaken_operands, unused_arguments
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class PassOnWhileOperands(Remedy):
    """Rebuilds scf.while loops so that scf.condition has an operand for each initial value, of the same type (FIS174).

    For what is passed on in addition the loop starts with zeros. What the body, or the condition, does not use is used by a barrier in it:
    the canonicaliser would remove it again. Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-pass-on-while-operands"
    cures: ClassVar[tuple[str, ...]] = ("FIS174",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "passes on from the condition of a while loop to its body what the loop starts with, and lets it start with the rest"
    )
    repairs: ClassVar[str] = (
        "while loops whose condition passes on fewer or more tensors than they start with, and which IREE rejects (FIS174)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "made the loop start with what its condition passes on to the body"
    advice: ClassVar[str] = (
        "have the loop start with what its condition passes on to the body, and with nothing else"
    )
    dialects: ClassVar[tuple[str, ...]] = ("arith", "scf", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        # From the last on: a loop inside of another one is rebuilt before the other one is.
        for found in reversed(untaken_operands(op)):
            _rebuild(found)


def _rebuild(found: Untaken) -> None:
    loop = found.loop
    before, after = (region.blocks[0] for region in loop.regions)
    condition = before.operations[len(before.operations) - 1].operation
    flag, *passed = condition.operands
    order = (*found.order, *found.extra)
    added = [passed[position].type for position in found.extra]
    types = [*(value.type for value in loop.operands), *added]
    with ir.InsertionPoint(loop), loop.location:
        inits = [*loop.operands, *map(_zero, added)]
        new = ir.Operation.create(loop.name, types, inits, regions=2)
    before.append_to(new.regions[0])
    zeros = [before.add_argument(type_, loop.location) for type_ in added]
    with ir.InsertionPoint.at_block_begin(before), loop.location:
        for argument in zeros:
            _use(argument)
    every = [passed[p] if p is not None else before.arguments[n] for n, p in enumerate(order)]
    with ir.InsertionPoint(condition), condition.location:
        ir.Operation.create(condition.name, [], [flag, *every])
    condition.erase()
    body = new.regions[1].blocks.append(*types, arg_locs=[loop.location] * len(types))
    for one in list(after.operations):
        body.append(one)
    for number, position in enumerate(order):
        if position is not None:
            after.arguments[position].replace_all_uses_with(body.arguments[number])
            loop.results[position].replace_all_uses_with(new.results[number])
    if added:
        end = body.operations[len(body.operations) - 1].operation
        with ir.InsertionPoint(end), end.location:
            ir.Operation.create(end.name, [], [*end.operands, *list(body.arguments)[len(found.order) :]])
        end.erase()
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        for argument in unused_arguments(new):
            _use(argument)
    loop.erase()


def _use(value: ir.Value) -> None:
    ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value])


def _zero(type_: ir.Type) -> ir.Value:
    element = type_.element_type if isinstance(type_, ir.RankedTensorType) else type_
    zero = (
        ir.FloatAttr.get(element, 0.0)
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, 0)
    )
    if isinstance(type_, ir.RankedTensorType):
        return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, zero))
    return arith.constant(type_, zero)
