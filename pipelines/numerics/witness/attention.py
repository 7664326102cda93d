"""iree_linalg_ext.attention, plain and online."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .elements import element_of_type
from .registry import NoWitness, evaluates
from .structured import MOST_AT_ONCE
from .views import loop_ranges, maps_of, over_loops

BASE = np.log2(np.e)
"""The maxima that an online attention takes and returns are of scores to the base 2, as IREE's decomposition has them (3.13)."""


@dataclass(frozen=True)
class _Scored:
    """The scores, one axis for each loop. ``scored`` are the loops that they have, ``columns`` those of the keys, ``out`` the result's."""

    scores: np.ndarray
    scored: list[int]
    columns: tuple[int, ...]
    out: list[int]
    ranges: list[int]


def _scored(interpreter, op, operands, masked: bool, result: int) -> _Scored:
    """query key^T scale + mask, over the loops that key and value share; ``result`` is the position of the result's map."""
    maps = maps_of(op)
    query, key, _, scale = operands[:4]
    arrays = [np.asarray(a) for a in operands]
    ranges = loop_ranges(maps, arrays)
    q, k, v, out = (_loops(maps[i]) for i in (0, 1, 2, result))
    summed, columns = (q & k) - out - v, (k & v) - out
    if not columns or any(len(m.results) != len(_loops(m)) for m in maps):
        raise NoWitness("an attention whose operands are indexed by more than single loops")
    scored = sorted((q | k) - summed)
    if np.prod([float(ranges[d]) for d in scored]) > MOST_AT_ONCE * 4:
        raise NoWitness(f"{op.name} with more scores than fit at once")
    if not _only_masks(op):
        raise NoWitness("an attention whose region computes with the scores: IREE gives it those of base 2")

    def score_of(total):
        outer, interpreter.loops = interpreter.loops, (ranges, {})
        try:
            return np.asarray(interpreter.block(op.regions[0].blocks[0], [total])[1][0])
        finally:
            interpreter.loops = outer

    scores = score_of(_sum_of_products(query, maps[0], key, maps[1], ranges, scored) * np.asarray(scale))
    if masked:
        mask = over_loops(arrays[4], maps[4], ranges, {})
        if element_of_type(op.operands[4].type).kind == "integer":
            kept = mask if mask.dtype == np.bool_ else (mask & 1).astype(bool)
            scores = np.where(kept, scores, -np.inf)
        else:
            scores = scores + mask
    for loops in (summed, columns):
        interpreter.summed(int(np.prod([ranges[d] for d in loops])), op.operands[0].type)
    return _Scored(scores, scored, tuple(sorted(columns)), sorted(out), list(ranges))


def _weighted(interpreter, op, operands, found: _Scored, powers: np.ndarray) -> np.ndarray:
    """powers value, one axis for each loop."""
    ranges = found.ranges
    if interpreter.declared and element_of_type(op.operands[0].type).bits < 32:
        powers = interpreter.settled(powers, op.operands[2].type)
    spread = np.broadcast_to(powers, [n if d in found.scored else 1 for d, n in enumerate(ranges)])
    weighted = np.einsum(
        spread.reshape([ranges[d] for d in found.scored]),
        found.scored,
        operands[2],
        _order(maps_of(op)[2]),
        found.out,
        optimize=True,
    )
    return weighted.reshape([n if d in found.out else 1 for d, n in enumerate(ranges)])


def _shaped(interpreter, whole: np.ndarray, map_, ranges, type_: ir.Type) -> np.ndarray:
    """``whole``, which has an axis for each loop, as a result that ``map_`` indexes."""
    order = _order(map_)
    spread = np.broadcast_to(whole, [n if d in order else 1 for d, n in enumerate(ranges)])
    kept = sorted(order)
    result = spread.reshape([ranges[d] for d in kept]).transpose([kept.index(d) for d in order])
    return interpreter.settled(np.ascontiguousarray(result), type_)


@evaluates(iree_ops.LINALG_EXT_ATTENTION)
def _attention(interpreter, op, operands):
    """softmax(query key^T scale + mask) value."""
    found = _scored(interpreter, op, operands, len(operands) == 6, -1)
    powers = np.exp(found.scores - found.scores.max(axis=found.columns, keepdims=True))
    total = powers.sum(axis=found.columns, keepdims=True)
    whole = _weighted(interpreter, op, operands, found, powers) / total
    return [_shaped(interpreter, whole, maps_of(op)[-1], found.ranges, op.results[0].type)]


@evaluates(iree_ops.LINALG_EXT_ONLINE_ATTENTION)
def _online_attention(interpreter, op, operands):
    """The weighted values, not divided by the sums; the row maxima; the row sums: each with what was before rescaled."""
    maps, found = maps_of(op), _scored(interpreter, op, operands, len(operands) == 8, -3)
    before, maxima, sums = (
        over_loops(np.asarray(operands[i]), maps[i], found.ranges, {}) for i in (-3, -2, -1)
    )
    maxima = maxima / BASE
    largest = np.maximum(maxima, found.scores.max(axis=found.columns, keepdims=True))
    if not np.isfinite(largest).all():
        raise NoWitness("an online attention with a row of which every score is masked")
    powers, rescaled = np.exp(found.scores - largest), np.exp(maxima - largest)
    values = (
        before * rescaled + _weighted(interpreter, op, operands, found, powers),
        largest * BASE,
        sums * rescaled + powers.sum(axis=found.columns, keepdims=True),
    )
    return [
        _shaped(interpreter, value, map_, found.ranges, result.type)
        for value, map_, result in zip(values, maps[-3:], op.results, strict=True)
    ]


def _only_masks(op) -> bool:
    """The region passes scores on or replaces them, and computes nothing from them."""
    names = [inner.operation.name for inner in op.regions[0].blocks[0].operations]
    return not any(
        n.startswith("math.") or n.endswith("f") and n not in ("arith.extf", "arith.truncf") for n in names
    )


def _order(map_) -> list[int]:
    return [ir.AffineDimExpr(e).position for e in map_.results if isinstance(e, ir.AffineDimExpr)]


def _loops(map_) -> set[int]:
    return set(_order(map_))


def _sum_of_products(a, map_a, b, map_b, ranges, kept) -> np.ndarray:
    total = np.einsum(a, _order(map_a), b, _order(map_b), kept, optimize=True)
    return total.reshape([ranges[d] if d in kept else 1 for d in range(len(ranges))])
