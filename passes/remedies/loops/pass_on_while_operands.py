"""Has the condition of a while loop pass on all that the loop starts with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

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

    What the body does not use is used by a barrier in it: the canonicaliser would remove it again. Run it after global
    optimisation.
    """

    name: ClassVar[str] = "fissile-pass-on-while-operands"
    cures: ClassVar[tuple[str, ...]] = ("FIS174",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "passes tensors that the condition of a while loop alone reads on to its body"
    repairs: ClassVar[str] = (
        "while loops that test a tensor which their body does not use, and which IREE rejects (FIS174)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "passed on to the body what the loop starts with"
    advice: ClassVar[str] = "pass on to the body what the loop starts with"
    dialects: ClassVar[tuple[str, ...]] = ("scf", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        # From the last on: a loop inside of another one is rebuilt before the other one is.
        for found in reversed(untaken_operands(op)):
            _rebuild(found)


def _rebuild(found: Untaken) -> None:
    loop = found.loop
    types = [value.type for value in loop.operands]
    with ir.InsertionPoint(loop), loop.location:
        new = ir.Operation.create(loop.name, types, list(loop.operands), regions=2)
    before, after = (region.blocks[0] for region in loop.regions)
    before.append_to(new.regions[0])
    condition = before.operations[len(before.operations) - 1].operation
    flag, *passed = condition.operands
    every = [passed[p] if p is not None else before.arguments[n] for n, p in enumerate(found.order)]
    with ir.InsertionPoint(condition), condition.location:
        ir.Operation.create(condition.name, [], [flag, *every])
    condition.erase()
    body = new.regions[1].blocks.append(*types, arg_locs=[loop.location] * len(types))
    for one in list(after.operations):
        body.append(one)
    for number, position in enumerate(found.order):
        if position is not None:
            after.arguments[position].replace_all_uses_with(body.arguments[number])
            loop.results[position].replace_all_uses_with(new.results[number])
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        for argument in unused_arguments(new):
            ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [argument.type], [argument])
    loop.erase()
