"""Gives each result of an op with several an op of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import read_inside
from fissile.passes.analysis.dispatch.structure import loop_structure, structure_of
from fissile.passes.definition import option, register_pass

from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into
from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class SplitResults(OpRemedy):
    """Makes of an op with several results, none of which is computed from another, one op for each.

    IREE 3.13's LLVMGPU code generation fails on sums in one op that start from one tensor (a mean and a mean of squares from one
    fill): `failed to bufferize op` where a size is dynamic, or a write that is not distributed. Apart they are built. ``ops`` chooses
    source ops by index; without it, every op that can be split. Inputs are read once for each result. Bit-identical, per
    element; sums may be reordered. A chosen op that cannot be split is FIS114.
    """

    name: ClassVar[str] = "fissile-split-results"
    order: ClassVar[int] = 100
    cures: ClassVar[tuple[str, ...]] = ("FIS103", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "splits an op with several independent results into one op per result"
    repairs: ClassVar[str] = (
        "sums in one op that start from the same tensor, such as a mean and a mean of squares (`failed to bufferize "
        "op`, gfx942)"
    )
    numbers: ClassVar[str] = "bit-identical per element; sums may be reordered"
    done: ClassVar[str] = "computed each result of {ops} with a separate op"
    advice: ClassVar[str] = "compute each result of {ops} with a separate op"
    refusal: ClassVar[str] = "{op} cannot be split by its results: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("linalg",)
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all with several results that stand for themselves"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if structure_of(op) is None:
            return Match("it has no body")
        if len(op.results) < 2:
            return Match("it has one result")
        outputs = _outputs(op)
        for position, yielded in enumerate(_yielded(op)):
            _needed, arguments = _slice(op, yielded)
            if any(argument in outputs and argument != outputs[position] for argument in arguments):
                return Match("one of its results is computed from another")
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        split_results(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the inputs are read once for each result"


def split_results(ops: Iterable[ir.Operation]) -> None:
    """Splits ``ops``, each of which matches, in place."""
    for op in ops:
        with ir.InsertionPoint(op), op.location:
            for position, result in enumerate(list(op.results)):
                result.replace_all_uses_with(_alone(op, position))
        op.erase()


def _alone(op: ir.Operation, position: int) -> ir.Value:
    """An op that computes one result of ``op``, from the inputs that it needs."""
    structure, body = loop_structure(op), op.regions[0].blocks[0]
    yielded = _yielded(op)[position]
    needed, arguments = _slice(op, yielded)
    first_output = len(op.operands) - len(op.results)
    kept = [i for i in range(first_output) if body.arguments[i] in arguments] + [first_output + position]
    operands = [op.operands[i] for i in kept]
    maps = [structure.maps[i] for i in kept]
    new, block = build_generic(operands[:-1], operands[-1:], maps, structure.parallel)
    values = dict(zip((body.arguments[i] for i in kept), block.arguments, strict=False))
    with ir.InsertionPoint(block):
        for inner in (inner.operation for inner in body.operations):
            if inner in needed:
                copy_into(inner, values)
        linalg.YieldOp([values.get(yielded, yielded)])
    return new.results[0]


def _yielded(op: ir.Operation) -> list[ir.Value]:
    return list(list(op.regions[0].blocks[0].operations)[-1].operands)


def _outputs(op: ir.Operation) -> list[ir.Value]:
    return list(op.regions[0].blocks[0].arguments)[-len(op.results) :]


def _slice(op: ir.Operation, value: ir.Value) -> tuple[set[ir.Operation], set[ir.Value]]:
    """The ops of the body that ``value`` is computed by, and the block arguments that it is computed from."""
    body = op.regions[0].blocks[0]
    ops: set[ir.Operation] = set()
    arguments: set[ir.Value] = set()
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one.owner, ir.Block):
            arguments.add(one)
            continue
        owner = one.owner.operation
        while owner.parent is not None and owner.parent.operation != op:
            owner = owner.parent.operation
        if owner in ops or owner.block != body:
            continue  # seen, or from outside of the body
        ops.add(owner)
        pending += read_inside(owner)
    return ops, arguments
