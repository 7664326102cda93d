"""Has loops and branches pass on the sizes of their tensors beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.growing_loops import FOR
from fissile.passes.analysis.loops.result_sizes import IF, has_dynamic_sizes, unsized
from fissile.passes.analysis.loops.while_operands import WHILE
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class PassSizesOn(Remedy):
    """Adds the sizes of dynamic tensors to what loops and branches pass on, and ties the tensors to them (FIS176).

    A size that is the same in each iteration is folded by the canonicaliser again. Run it after global optimisation. It changes loops
    that IREE compiles, too: it is for a program that IREE has rejected.
    """

    name: ClassVar[str] = "fissile-pass-sizes-on"
    cures: ClassVar[tuple[str, ...]] = ("FIS176",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "passes the sizes of dynamic tensors through loops and branches"
    repairs: ClassVar[str] = (
        "loops and branches that pass on tensors of unknown sizes, which IREE rejects (FIS176)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "passed the sizes on beside the tensors"
    advice: ClassVar[str] = "pass the sizes on beside the tensors"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "scf", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        # From the last on: a loop inside of another one is rebuilt before the other one is, which asks it for its sizes.
        for found in reversed(unsized(op)):
            _REBUILT.get(found.name, _tie_barrier)(found)


def _rebuild_for(loop: ir.Operation) -> None:
    body = loop.regions[0].blocks[0]
    bounds, inits = list(loop.operands)[:3], list(loop.operands)[3:]
    new = _rebuilt(loop, [*bounds, *_with_sizes(inits, loop)], loop.results)
    body.append_to(new.regions[0])
    _tie_arguments(body, 1)
    _end_with_sizes(body, 0)
    _replace(loop, new)


def _rebuild_while(loop: ir.Operation) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    new = _rebuilt(loop, _with_sizes(loop.operands, loop), loop.results)
    before.append_to(new.regions[0])
    after.append_to(new.regions[1])
    for block in (before, after):
        _tie_arguments(block, 0)
    _end_with_sizes(before, 1)
    _end_with_sizes(after, 0)
    _replace(loop, new)


def _rebuild_if(branch: ir.Operation) -> None:
    blocks = [region.blocks[0] for region in branch.regions]
    new = _rebuilt(branch, list(branch.operands), branch.results)
    for region, block in zip(new.regions, blocks, strict=True):
        block.append_to(region)
        _end_with_sizes(block, 0)
    _replace(branch, new)


def _tie_barrier(barrier: ir.Operation) -> None:
    with ir.InsertionPoint.after(barrier), barrier.location:
        for operand, result in zip(barrier.operands, barrier.results, strict=True):
            if has_dynamic_sizes(result):
                _tie(result, _sizes(operand))


_REBUILT = {FOR: _rebuild_for, IF: _rebuild_if, WHILE: _rebuild_while}


def _rebuilt(op: ir.Operation, operands: Sequence[ir.Value], results: Iterable[ir.Value]) -> ir.Operation:
    """``op`` with these operands, without blocks, and with results for the sizes of its ``results`` behind them."""
    values = list(results)
    types = [*(value.type for value in values), *[ir.IndexType.get(op.context)] * _count(values)]
    attributes = {named.name: named.attr for named in op.attributes}
    with ir.InsertionPoint(op), op.location:
        return ir.Operation.create(op.name, types, list(operands), attributes, regions=len(op.regions))


def _count(values: Iterable[ir.Value]) -> int:
    """How many sizes of ``values`` are dynamic."""
    types = [ir.RankedTensorType(value.type) for value in values if has_dynamic_sizes(value)]
    return sum(type_.is_dynamic_dim(position) for type_ in types for position in range(type_.rank))


def _with_sizes(values: Iterable[ir.Value], before: ir.Operation) -> list[ir.Value]:
    """``values`` and their dynamic sizes, which are read before op ``before``."""
    known = list(values)
    with ir.InsertionPoint(before), before.location:
        return [*known, *(size for value in known if has_dynamic_sizes(value) for size in _sizes(value))]


def _sizes(value: ir.Value) -> list[ir.Value]:
    """The dynamic sizes of ``value`` at the insertion point: those that it is tied to, or those that are read from it."""
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == iree_ops.FLOW_TENSOR_TIE_SHAPE:
        return list(value.owner.operation.operands)[1:]
    return dynamic_sizes(value)


def _tie_arguments(block: ir.Block, first: int) -> None:
    """Adds the sizes of the arguments of ``block`` from number ``first`` on to its arguments."""
    known = list(block.arguments)[first:]
    location = block.owner.location
    index = ir.IndexType.get(location.context)
    sizes = [block.add_argument(index, location) for _ in range(_count(known))]
    with ir.InsertionPoint.at_block_begin(block), location:
        _tie_all(known, sizes)


def _end_with_sizes(block: ir.Block, first: int) -> None:
    """Adds the sizes of what ``block`` passes on, which begins with operand number ``first`` of the op at its end."""
    end = block.operations[len(block.operations) - 1].operation
    passed = _with_sizes(list(end.operands)[first:], end)
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create(end.name, [], [*list(end.operands)[:first], *passed])
    end.erase()


def _replace(op: ir.Operation, new: ir.Operation) -> None:
    """Uses of ``op``'s results become uses of those of ``new``, each tied to its sizes."""
    count = len(op.results)
    for old, value in zip(op.results, new.results, strict=False):
        old.replace_all_uses_with(value)
    with ir.InsertionPoint.after(new), new.location:
        _tie_all(list(new.results)[:count], list(new.results)[count:])
    op.erase()


def _tie_all(values: Iterable[ir.Value], sizes: Iterable[ir.Value]) -> None:
    left = iter(sizes)
    for value in values:
        if has_dynamic_sizes(value):
            _tie(value, [next(left) for _ in range(_count([value]))])


def _tie(value: ir.Value, sizes: Sequence[ir.Value]) -> None:
    """Every use of ``value`` becomes one of a tensor that has ``sizes``."""
    tied = ir.Operation.create(iree_ops.FLOW_TENSOR_TIE_SHAPE, [value.type], [value, *sizes])
    value.replace_all_uses_except(tied.results[0], tied)
