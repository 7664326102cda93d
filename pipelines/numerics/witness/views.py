"""An operand of a structured op as its loops see it: one axis per loop, of size 1 where the operand does not vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from iree.compiler import ir
from numpy.lib.stride_tricks import as_strided

from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.analysis.dispatch.linear_index import dimensions_of_loops, extents_of_loops, linear_index

from .registry import NoWitness


def maps_of(op: ir.Operation) -> list[ir.AffineMap]:
    """The indexing map of each operand. `NoWitness` where the op has none."""
    maps = indexing_maps(op)
    if maps is None:
        raise NoWitness(op.name)
    return maps


def loop_ranges(maps: Sequence[ir.AffineMap], arrays: Sequence[np.ndarray]) -> list[int]:
    """The extent of each loop, from an operand's dimension that it alone indexes."""
    ranges = extents_of_loops(maps, lambda operand, axis: np.shape(arrays[operand])[axis])
    for loop, operand, axis in dimensions_of_loops(maps):
        if np.shape(arrays[operand])[axis] != ranges[loop]:
            raise NoWitness("operands whose sizes do not agree")
    sizes = [size for size in ranges if size is not None]
    if len(sizes) != len(ranges):
        raise NoWitness("a loop that indexes no operand alone")
    return sizes


def value_of(expression, loops: Sequence, symbols: Sequence = ()):
    """``expression`` for numbers or arrays of loop indices."""
    if isinstance(expression, ir.AffineConstantExpr):
        return np.int64(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return loops[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    left, right = value_of(expression.lhs, loops, symbols), value_of(expression.rhs, loops, symbols)
    if isinstance(expression, ir.AffineAddExpr):
        return left + right
    if isinstance(expression, ir.AffineMulExpr):
        return left * right
    if isinstance(expression, ir.AffineModExpr):
        return left % right
    if isinstance(expression, ir.AffineFloorDivExpr):
        return left // right
    if isinstance(expression, ir.AffineCeilDivExpr):
        return -(-left // right)
    raise NoWitness(f"index {expression}")


def index_of_loop(loop: int, ranges: Sequence[int], fixed: Mapping[int, int]) -> np.ndarray:
    """The loop's own index, along its axis."""
    shape = [1] * len(ranges)
    if loop in fixed:
        return np.full(shape, fixed[loop], np.int64)
    shape[loop] = ranges[loop]
    return np.arange(ranges[loop], dtype=np.int64).reshape(shape)


def over_loops(
    array: np.ndarray, map_: ir.AffineMap, ranges: Sequence[int], fixed: Mapping[int, int]
) -> np.ndarray:
    """``array`` with one axis per loop; the loops of ``fixed`` are held at an index. A view where the map is linear."""
    array = np.asarray(array)
    found = [linear_index(expression, map_.n_dims) for expression in map_.results]
    terms = [term for term in found if term is not None]
    if len(terms) < len(found):
        loops = [index_of_loop(loop, ranges, fixed) for loop in range(len(ranges))]
        indices = tuple(np.asarray(value_of(expression, loops)) for expression in map_.results)
        _check(all(((i >= 0) & (i < n)).all() for i, n in zip(indices, array.shape, strict=False)))
        return np.broadcast_arrays(array[indices], np.empty([1] * len(ranges)))[0]
    used = {loop for term in terms for loop, step in term.steps.items() if loop not in fixed and step}
    shape = [ranges[loop] if loop in used else 1 for loop in range(len(ranges))]
    if 0 in shape:
        return np.zeros(shape, array.dtype)
    strides: list[int] = [0] * len(ranges)
    corner = []
    for axis, term in enumerate(terms):
        low, high = term.range(ranges, fixed)
        _check(0 <= low and high < array.shape[axis])
        corner.append(low)
        for loop, step in term.steps.items():
            if loop in used:
                strides[loop] += step * array.strides[axis]
    if any(step < 0 for term in terms for step in term.steps.values()):
        loops = [index_of_loop(loop, ranges, fixed) for loop in range(len(ranges))]
        indices = tuple(np.asarray(value_of(expression, loops)) for expression in map_.results)
        return np.broadcast_to(array[indices], np.broadcast_shapes(*(i.shape for i in indices), tuple(shape)))
    inside: tuple[Any, ...] = (*(slice(c, None) for c in corner), ...)
    return as_strided(array[inside], shape, strides, writeable=array.flags.writeable)


def _check(inside: bool) -> None:
    if not inside:
        raise NoWitness("an operand that is read beyond its end")
