"""Loops and branches that compute tensors, written with the loops and branches that IREE takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, scf, tensor
from iree.compiler.passmanager import PassManager

from fissile.finding import Finding
from fissile.passes.analysis.program.tensor_control_flow import (
    AFFINE,
    bounds_of_forall,
    bounds_of_parallel,
    is_unlowered,
)
from fissile.passes.definition import register_pass
from fissile.passes.iree.pipelines import AFFINE_LOWERED
from fissile.passes.remedies.remedy import Exactness

from .front_end import FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class LowerControlFlow(FrontEndRemedy):
    """Writes loops and branches with tensors among their results as `scf.for` and `scf.if`.

    `scf.index_switch` becomes nested `scf.if`. `scf.forall` and `scf.parallel` become nested `scf.for`; what a thread reads of a shared
    output is its value before the loop, as the op defines it, and a reduction is done in the order of the iterations. `affine.for`, `affine.if` and
    `affine.parallel` are lowered by MLIR's lower-affine, and with them all affine ops of the program. Only ops outside of dispatches
    are looked at. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-lower-control-flow"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = ("scf.", AFFINE)
    dialects: ClassVar[tuple[str, ...]] = ("scf", "arith", "tensor", "affine")
    does: ClassVar[str] = (
        "replaces `scf.index_switch`, `scf.forall`, `scf.parallel` and affine control flow with tensor results by "
        "`scf.if` and `scf.for` (in the input)"
    )
    repairs: ClassVar[str] = (
        "`scf.forall` and `affine.for` on the host, on which IREE crashes, and `scf.index_switch` and others, which it "
        "rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with scf.if and scf.for"
    advice: ClassVar[str] = "rewrite it with scf.if and scf.for"

    def fits(self, op: ir.Operation) -> bool:
        return is_unlowered(op)

    def named(self, op: ir.Operation) -> str:
        return op.name

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        found = self.found(op)
        self.report(found, report)
        if any(one.name.startswith(AFFINE) for one in found):
            del found
            PassManager.parse(AFFINE_LOWERED, context=op.context).run(op.operation)
        self.replace(self.found(op))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return _WRITTEN[op.name](op)


def _as_branches(op: ir.Operation) -> list[ir.Value]:
    """`scf.index_switch`: its first region is the default, each other one belongs to a case."""
    cases = list(ir.DenseI64ArrayAttr(op.attributes["cases"]))
    types = [result.type for result in op.results]
    default, *regions = op.regions
    selector = op.operands[0]

    def branch(number: int) -> ir.Operation:
        wanted = arith.constant(ir.IndexType.get(), cases[number])
        is_wanted = arith.cmpi(arith.CmpIPredicate.eq, selector, wanted)
        made = ir.Operation.create("scf.if", types, [is_wanted], regions=2)
        regions[number].blocks[0].append_to(made.regions[0])
        if number == len(cases) - 1:
            default.blocks[0].append_to(made.regions[1])
            return made
        other = made.regions[1].blocks.append()
        with ir.InsertionPoint(other):
            scf.yield_(list(branch(number + 1).results))
        return made

    return list(branch(0).results)


def _as_loops(
    bounds: Sequence[tuple[ir.Value, ir.Value, ir.Value]],
    carried: Sequence[ir.Value],
    body: Callable[[list[ir.Value], list[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """A nest of `scf.for`, one for each of ``bounds``; ``body`` builds what the innermost yields, from the indices and what is carried."""

    def nest(indices: list[ir.Value], values: Sequence[ir.Value]) -> list[ir.Value]:
        if len(indices) == len(bounds):
            return body(indices, list(values))
        loop = scf.ForOp(*bounds[len(indices)], list(values))
        with ir.InsertionPoint(loop.body):
            scf.yield_(nest([*indices, loop.induction_variable], loop.inner_iter_args))
        return list(loop.results)

    return nest([], carried)


def _move(block: ir.Block, values: Sequence[ir.Value]) -> ir.Operation:
    """Moves the ops of ``block``, with ``values`` for its arguments, to the end of the block that is built; returns the terminator, which stays."""
    for argument, value in zip(block.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    *ops, terminator = list(block.operations)
    here = ir.InsertionPoint.current
    for one in ops:
        here.insert(one.operation.detach_from_parent())
    return terminator.operation


def _forall_as_loops(op: ir.Operation) -> list[ir.Value]:
    bounds, outputs = bounds_of_forall(op)
    block = op.regions[0].blocks[0]
    shared = list(block.arguments)[len(bounds) :]

    def body(indices: list[ir.Value], values: list[ir.Value]) -> list[ir.Value]:
        updates = list(block.operations)[-1].operation.regions[0].blocks[0]
        places = [shared.index(one.operands[1]) for one in updates.operations]
        terminator = _move(block, [*indices, *outputs])
        for place, one in zip(places, list(terminator.regions[0].blocks[0].operations), strict=True):
            source, _output, *others = one.operands
            made = ir.Operation.create(
                tensor.InsertSliceOp.OPERATION_NAME,
                [values[place].type],
                [source, values[place], *others],
                attributes={named.name: named.attr for named in _attributes(one.operation)},
            )
            values[place] = made.result
        return values

    return _as_loops(bounds, outputs, body)


def _attributes(op: ir.Operation) -> Iterator[ir.NamedAttribute]:
    """The attributes and properties of ``op``."""
    for number in range(len(op.attributes)):
        yield op.attributes[number]


def _parallel_as_loops(op: ir.Operation) -> list[ir.Value]:
    bounds, initial = bounds_of_parallel(op)
    block = op.regions[0].blocks[0]

    def body(indices: list[ir.Value], values: list[ir.Value]) -> list[ir.Value]:
        terminator = _move(block, indices)
        reduced: list[ir.Value] = []
        for value, operand, region in zip(
            values, list(terminator.operands), list(terminator.regions), strict=True
        ):
            end = _move(region.blocks[0], [value, operand])
            reduced.append(end.operands[0])
        return reduced

    return _as_loops(bounds, initial, body)


_WRITTEN = {
    "scf.index_switch": _as_branches,
    "scf.forall": _forall_as_loops,
    "scf.parallel": _parallel_as_loops,
}
