"""Keeps the order of equal keys in a sort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.finding import Finding
from fissile.passes.analysis.program.stable_sorts import STRICT, TOPK, comparison_of, unstable_sorts
from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy

from ..generic_ops import build_generic, element_type
from ..narrow.packed_words import sizes_of
from ..rebuilt_ops import copy_into


@register_pass
@dataclass(frozen=True)
class StableSorts(Remedy):
    """Makes the comparator of each sort of several tensors hold of equal keys: IREE's sort leaves these where they are then.

    `a < b` becomes `a <= b`. A comparator of more than one op becomes `compare(a, b) or not compare(b, a)`, which is false only if b
    must stand before a. A topk reads its rows from the end, so that the first of equal values is the last to be inserted, before the
    others. What is sorted keeps its bits. Run it on the output of phase input.
    """

    name: ClassVar[str] = "fissile-stable-sorts"
    cures: ClassVar[tuple[str, ...]] = ("FIS146",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "makes the comparator of a sort hold of equal keys, which keeps their order; a topk reads its rows from the end"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a stable sort exchanges what belongs to equal keys (FIS146)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "made the sort stable: equal keys keep their order"
    advice: ClassVar[str] = "make the sort stable: equal keys keep their order"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    contract: ClassVar[Contract] = ON_TENSORS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in unstable_sorts(op):
            if found.op.name == TOPK:
                _read_from_the_end(found.op)
            else:
                _keep_equal_keys(found.op)


def _keep_equal_keys(sort: ir.Operation) -> None:
    comparison = comparison_of(sort)
    if comparison is not None:
        predicate = ir.IntegerAttr(comparison.attributes["predicate"])
        if (weaker := STRICT[comparison.name].get(predicate.value)) is not None:
            comparison.attributes["predicate"] = ir.IntegerAttr.get(predicate.type, weaker)
            return
    block = sort.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    arguments = list(block.arguments)
    other = dict(zip(arguments, (arguments[i ^ 1] for i in range(len(arguments))), strict=True))
    with ir.InsertionPoint(last), sort.location:
        for inner in [o.operation for o in block.operations][:-1]:
            copy_into(inner, other)
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        first = last.operands[0]
        last.operands[0] = arith.ori(first, arith.xori(other.get(first, first), true))


def _read_from_the_end(topk: ir.Operation) -> None:
    along = ir.IntegerAttr(topk.attributes["dimension"]).value
    last = ir.RankedTensorType(topk.operands[0].type).get_dim_size(along) - 1
    inputs = len(topk.operands) - len(topk.results)
    with topk.location:
        with ir.InsertionPoint(topk):
            for number in range(inputs):
                topk.operands[number] = _reversed(topk.operands[number], along, last)
        if inputs == 1:  # the indices that it counts itself are those from the end
            with ir.InsertionPoint.after(topk):
                counted = _from_the_begin(topk.results[1], last)
            topk.results[1].replace_all_uses_except(counted.results[0], counted)


def _reversed(rows: ir.Value, along: int, last: int) -> ir.Value:
    """The elements of ``rows``, of which the last along a dimension comes first."""
    rank = ir.RankedTensorType(rows.type).rank
    dims = [ir.AffineDimExpr.get(d) for d in range(rank)]
    mirrored = [ir.AffineExpr.get_constant(last) - d if n == along else d for n, d in enumerate(dims)]
    maps = [ir.AffineMap.get(rank, 0, mirrored), ir.AffineMap.get_identity(rank)]
    empty = tensor.EmptyOp(sizes_of(rows), element_type(rows.type)).result
    new, body = build_generic([rows], [empty], maps, [True] * rank)
    with ir.InsertionPoint(body):
        linalg.YieldOp([body.arguments[0]])
    return new.results[0]


def _from_the_begin(indices: ir.Value, last: int) -> ir.Operation:
    """``last`` - index for each index."""
    rank = ir.RankedTensorType(indices.type).rank
    empty = tensor.EmptyOp(sizes_of(indices), element_type(indices.type)).result
    new, body = build_generic([indices], [empty], [ir.AffineMap.get_identity(rank)] * 2, [True] * rank)
    with ir.InsertionPoint(body):
        index = body.arguments[0]
        linalg.YieldOp([arith.subi(arith.constant(index.type, last), index)])
    return new
