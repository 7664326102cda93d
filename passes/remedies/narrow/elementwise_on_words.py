"""Can an elementwise op read packed words itself, so that unpacking needs no dispatch and no memory of its
own?

The loop that runs over the words' elements is split in two: one over words, one over the elements of a word.
Every operand that this loop indexes gets its dimension split likewise, and the result's two dimensions are
merged again: reshapes, which move nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.narrow_types import NarrowType

from ..generic_ops import build_generic
from .float_bits import i32
from .packed_words import Size, bitcast, element_of_word, expanded, fills, flat, merged, sizes_of, unflat


@dataclass(frozen=True)
class ReadByWords:
    """An elementwise op as it will read words.

    ``loop`` is split; None: all loops run as one. ``words`` says by operand position which operands are
    words, and of what.
    """

    loop: int | None
    per_word: int
    words: dict[int, NarrowType]


def reads_by_words(
    op: ir.Operation, maps: Sequence[ir.AffineMap], stored: dict[int, NarrowType]
) -> ReadByWords | None:
    """How ``op`` can read its ``stored`` operands (position -> type) by words; None where it cannot."""
    per_word = {narrow.per_word for narrow in stored.values()}
    outputs = len(op.results)
    if len(per_word) != 1 or not all(m.is_projected_permutation for m in maps):
        return None
    if any(str(m) != str(ir.AffineMap.get_identity(m.n_dims)) for m in maps[-outputs:]):
        return None  # a reduction, or a result in another order: dimension i of the result is loop i
    body = op.regions[0].blocks[0]
    if any(True for argument in list(body.arguments)[-outputs:] for _ in argument.uses):
        return None
    if any(inner.operation.name == "linalg.index" for inner in body.operations):
        return None
    [lanes] = per_word
    shapes = [
        ir.RankedTensorType(v.type) if isinstance(v.type, ir.RankedTensorType) else None for v in op.operands
    ]
    result = ir.RankedTensorType(op.results[0].type)
    loops = {maps[i].results[-1] if maps[i].results else None for i in stored}
    if len(loops) == 1 and (expression := loops.pop()) is not None:
        loop = ir.AffineDimExpr(expression).position
        size = None if result.is_dynamic_dim(loop) else result.get_dim_size(loop)
        if size and size % lanes == 0 and _static_in(shapes, maps, loop):
            return ReadByWords(loop, lanes, stored)
    identical = all(
        shaped is None
        or shaped.rank == 0
        or list(shaped.shape) == list(result.shape)
        and str(m) == str(maps[-1])
        for shaped, m in zip(shapes, maps, strict=False)
    )
    if identical and result.has_static_shape and fills(_product(result.shape), next(iter(stored.values()))):
        return ReadByWords(None, lanes, stored)
    return None


def build_by_words(
    op: ir.Operation,
    maps: Sequence[ir.AffineMap],
    plan: ReadByWords,
    operands: Sequence[ir.Value],
    result_types: Sequence[ir.RankedTensorType],
    body,
) -> list[ir.Value]:
    """Builds ``op`` anew at the insertion point; returns its results in their own shapes.

    ``operands`` are the op's: narrow ones where the plan reads words, wide ones elsewhere (the outputs too).
    ``body`` gets the elements of all inputs and returns those of the results.
    """
    outputs = len(result_types)
    inputs = list(operands[: len(operands) - outputs])
    shape = sizes_of(operands[-1])
    new_maps, values = [], []
    for position, (value, m) in enumerate(zip(inputs, maps, strict=False)):
        narrow = plan.words.get(position)
        values.append(
            _words_of(value, narrow) if narrow and plan.loop is not None else _operand(value, m, plan, narrow)
        )
        new_maps.append(_split_map(m, plan, keeps_lane=narrow is None))
    inits = [tensor.EmptyOp(_split_sizes(shape, plan), t.element_type).result for t in result_types]
    loops = ir.RankedTensorType(inits[0].type).rank
    new_maps += [ir.AffineMap.get_identity(loops)] * outputs
    lane = loops - 1 if plan.loop is None else plan.loop + 1
    new, block = build_generic(values, inits, new_maps, [True] * loops)
    with ir.InsertionPoint(block):
        elements = [
            element_of_word(argument, lane, plan.words[i]) if i in plan.words else argument
            for i, argument in enumerate(list(block.arguments)[: len(values)])
        ]
        linalg.YieldOp(body(elements))
    if plan.loop is None:
        return [unflat(merged(result, 0), shape) for result in new.results]
    return [merged(result, plan.loop) for result in new.results]


def _static_in(shapes, maps: Sequence[ir.AffineMap], loop: int) -> bool:
    """Whether the dimension that ``loop`` indexes has a static size in every operand."""
    return all(
        shaped is None or not shaped.is_dynamic_dim(i)
        for shaped, m in zip(shapes, maps, strict=False)
        for i, r in enumerate(m.results)
        if ir.AffineDimExpr(r).position == loop
    )


def _words_of(value: ir.Value, narrow: NarrowType) -> ir.Value:
    sizes = sizes_of(value)
    return bitcast(value, [*sizes[:-1], sizes[-1] // narrow.per_word], i32())


def _operand(value: ir.Value, m: ir.AffineMap, plan: ReadByWords, narrow: NarrowType | None) -> ir.Value:
    """An input with its dimensions split as the plan says."""
    if not isinstance(value.type, ir.RankedTensorType) or not m.results:
        return value
    if plan.loop is None:
        count = _product(value.type.shape)
        return (
            bitcast(value, [count // plan.per_word], i32())
            if narrow
            else expanded(flat(value, count), 0, plan.per_word)
        )
    for position, result in enumerate(m.results):
        if ir.AffineDimExpr(result).position == plan.loop:
            return expanded(value, position, plan.per_word)
    return value


def _split_map(m: ir.AffineMap, plan: ReadByWords, keeps_lane: bool) -> ir.AffineMap:
    if plan.loop is None:
        results = (
            [ir.AffineDimExpr.get(0), *([ir.AffineDimExpr.get(1)] if keeps_lane else [])] if m.results else []
        )
        return ir.AffineMap.get(2, 0, results)
    results = []
    for result in m.results:
        position = ir.AffineDimExpr(result).position
        results.append(ir.AffineDimExpr.get(position + (position > plan.loop)))
        if position == plan.loop and keeps_lane:
            results.append(ir.AffineDimExpr.get(position + 1))
    return ir.AffineMap.get(m.n_dims + 1, 0, results)


def _split_sizes(sizes: Sequence[Size], plan: ReadByWords) -> list[Size]:
    if plan.loop is None:
        return [_product(sizes) // plan.per_word, plan.per_word]
    return [*sizes[: plan.loop], sizes[plan.loop] // plan.per_word, plan.per_word, *sizes[plan.loop + 1 :]]


def _product(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
