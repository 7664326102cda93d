"""Sorts by rank: how many elements stand before each one is counted by threads of their own, and each is put there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import BoundaryOp
from fissile.dialect import linalg_ops as linalg
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops

from ..generic_ops import build_generic, element_type
from ..narrow.packed_words import sizes_of
from ..rebuilt_ops import copy_into
from ..remedy import PLACES_BOUNDARIES, Exactness, Match, OpRemedy
from .split_reductions import split_reductions

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

SORT = iree_ops.LINALG_EXT_SORT
_SCATTER, _YIELD = iree_ops.LINALG_EXT_SCATTER, iree_ops.LINALG_EXT_YIELD
LONGEST_COUNT = 1 << 15
"""Elements of a row from which on the count of one element's predecessors is split as well."""


@register_pass
@dataclass(frozen=True)
class RankSorts(OpRemedy):
    """Replaces iree_linalg_ext.sort by a count of the elements that precede each element, and a copy of each to that position.

    IREE 3.13 sorts a row of N elements by one thread with N * N steps (a bubble sort): slow everywhere, and wrong where a driver ends
    the loop (lavapipe, after 65535 iterations, so from 257 elements on). Here N threads have N steps each. ``ops`` chooses source ops
    by index; without it, all sorts.

    The order is stable: of two elements that the comparator does not tell apart, the first stays first. That is what IREE computes for
    a comparator that holds of equal elements (`oge`, as torch.topk has it); of equal keys under a strict one (`olt`) IREE's order
    depends on the other elements. Values are copied, so every bit stays. In a row with a NaN that its comparator cannot order, the
    result has elements of the row, as IREE's, and not in the same order. A row of dynamic size is FIS114.
    """

    name: ClassVar[str] = "fissile-rank-sorts"
    order: ClassVar[int] = 80
    cures: ClassVar[tuple[str, ...]] = ("FIS125", "FIS127")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "sorts by rank: counts for each element how many precede it"
    repairs: ClassVar[str] = (
        "sorts and top-k of more than 256 elements on Vulkan, where one thread takes N * N steps (FIS125)"
    )
    numbers: ClassVar[str] = "bit-identical copies; ties keep their order"
    counterpart: ClassVar[str] = (
        "A sort has one schedule, which gives each row to one thread, and no flag changes that."
    )
    done: ClassVar[str] = "sorted {ops} by rank: one thread per element counts how many precede it"
    advice: ClassVar[str] = "sort {ops} by rank: one thread per element counts how many precede it"
    refusal: ClassVar[str] = "{op} cannot be sorted by rank: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "iree_linalg_ext", "linalg", "tensor")
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops to rewrite; empty: every sort")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name != SORT:
            return Match("it is not a sort")
        tensor_type = ir.RankedTensorType(op.results[0].type)
        if len(op.operands) != len(op.results):
            return Match("it has inputs beside the tensors that it sorts")
        return Match("its rows are of dynamic size" if tensor_type.is_dynamic_dim(_along(op)) else "")

    def chooses(self, op: ir.Operation) -> bool:
        return op.name == SORT

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        rank_sorts(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "as many comparisons as IREE's sort, by all threads together"

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        return (("order", "stable: elements that the comparator does not tell apart keep their order"),)


def rank_sorts(ops: Iterable[ir.Operation]) -> None:
    """Rewrites ``ops``, each of which matches, in place."""
    for op in ops:
        with ir.InsertionPoint(op), op.location:
            at = _permutation(_ranks(op), _along(op))
            for old, operand in zip(list(op.results), list(op.operands), strict=True):
                old.replace_all_uses_with(_gathered(operand, at, _along(op)))
        op.erase()


def _along(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dimension"]).value


def _ranks(op: ir.Operation) -> ir.Value:
    """For each element, how many of its row precede it."""
    along, tensor_type = _along(op), ir.RankedTensorType(op.operands[0].type)
    rank, i32 = tensor_type.rank, ir.IntegerType.get_signless(32)
    block = op.regions[0].blocks[0]
    used = [
        k
        for k in range(len(op.operands))
        if any(len(list(block.arguments[2 * k + side].uses)) for side in (0, 1))
    ]
    read = [op.operands[k] for k in used]
    this = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(d) for d in range(rank)])
    other = ir.AffineMap.get(
        rank + 1, 0, [ir.AffineDimExpr.get(rank if d == along else d) for d in range(rank)]
    )
    none = linalg.fill(arith.constant(i32, 0), outs=[tensor.EmptyOp(sizes_of(op.operands[0]), i32).result])
    maps = [this] * len(read) + [other] * len(read) + [this]
    counted, body = build_generic([*read, *read], [none], maps, [True] * rank + [False])
    with ir.InsertionPoint(body):
        mine, theirs = linalg.IndexOp(along).result, linalg.IndexOp(rank).result
        before = arith.cmpi(arith.CmpIPredicate.ult, theirs, mine)
        pairs = [(body.arguments[n], body.arguments[len(used) + n]) for n in range(len(used))]
        first = [arith.select(before, y, x) for x, y in pairs]
        last = [arith.select(before, x, y) for x, y in pairs]
        # The first of two stays first where the comparator says so, or does not tell them apart.
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        stays = arith.ori(
            _compared(block, used, first, last), arith.xori(_compared(block, used, last, first), true)
        )
        precedes = arith.andi(
            arith.cmpi(arith.CmpIPredicate.eq, stays, before),
            arith.cmpi(arith.CmpIPredicate.ne, mine, theirs),
        )
        linalg.YieldOp([arith.addi(body.arguments[2 * len(used)], arith.extui(i32, precedes))])
    result = BoundaryOp(counted.operation.results[0]).operation.results[0]
    if tensor_type.get_dim_size(along) > LONGEST_COUNT:
        split_reductions([counted.operation])
    return result


def _compared(
    block: ir.Block, used: Sequence[int], first: Sequence[ir.Value], last: Sequence[ir.Value]
) -> ir.Value:
    """What the comparator says of ``first`` and ``last``: true where they are in order."""
    values: dict[ir.Value, ir.Value] = {}
    for k, a, b in zip(used, first, last, strict=True):
        values[block.arguments[2 * k]], values[block.arguments[2 * k + 1]] = a, b
    for inner in [o.operation for o in block.operations]:
        if inner.name == _YIELD:
            return values.get(inner.operands[0], inner.operands[0])
        copy_into(inner, values)
    raise LookupError("a comparator without a yield")


def _permutation(ranks: ir.Value, along: int) -> ir.Value:
    """For each place of the result, which element of the row stands there."""
    tensor_type = ir.RankedTensorType(ranks.type)
    rank, i32 = tensor_type.rank, tensor_type.element_type
    maps = [
        ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(d) for d in range(rank)]),
        ir.AffineMap.get_identity(rank + 1),
    ]
    place, body = build_generic([ranks], [_sized(ranks, [rank], i32)], maps, [True] * (rank + 1))
    with ir.InsertionPoint(body):
        which, value = linalg.IndexOp(rank).result, body.arguments[0]
        for dimension in range(rank):
            if dimension != along:
                own = arith.index_cast(i32, linalg.IndexOp(dimension).result)
                chosen = arith.cmpi(
                    arith.CmpIPredicate.eq, which, arith.constant(ir.IndexType.get(), dimension)
                )
                value = arith.select(chosen, own, value)
        linalg.YieldOp([value])
    empty = _sized(ranks, [], i32)
    numbers, body = build_generic([], [empty], [ir.AffineMap.get_identity(rank)], [True] * rank)
    with ir.InsertionPoint(body):
        linalg.YieldOp([arith.index_cast(i32, linalg.IndexOp(along).result)])
    zeros = linalg.fill(arith.constant(i32, 0), outs=[_sized(ranks, [], i32)])
    scattered = ir.Operation.create(
        _SCATTER,
        [zeros.type],
        [numbers.operation.results[0], place.operation.results[0], zeros],
        {
            "dimension_map": ir.DenseI64ArrayAttr.get(list(range(rank))),
            "unique_indices": ir.BoolAttr.get(True),
        },
        regions=1,
    )
    block = scattered.regions[0].blocks.append(i32, i32)
    with ir.InsertionPoint(block):
        ir.Operation.create(_YIELD, [], [block.arguments[0]])
    return scattered.results[0]


def _gathered(source: ir.Value, at: ir.Value, along: int) -> ir.Value:
    """``source`` with the elements of each row in the order ``at``."""
    element, rank = element_type(source.type), ir.RankedTensorType(source.type).rank
    identity, empty = ir.AffineMap.get_identity(rank), _sized(source, [], element)
    new, block = build_generic([at], [empty], [identity, identity], [True] * rank)
    with ir.InsertionPoint(block):
        index = arith.index_cast(ir.IndexType.get(), block.arguments[0])
        linalg.YieldOp(
            [tensor.extract(source, [index if d == along else linalg.IndexOp(d).result for d in range(rank)])]
        )
    return new.operation.results[0]


def _sized(like: ir.Value, more: Sequence[int], element: ir.Type) -> ir.Value:
    return tensor.EmptyOp([*sizes_of(like), *more], element).result
