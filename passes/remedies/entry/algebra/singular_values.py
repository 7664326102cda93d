"""Singular values and vectors by Jacobi's rotations of the columns (one-sided), of matrices with known numbers of rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from iree.compiler import ir
from iree.compiler.dialects import arith, math

from .batches import (
    Indices,
    Size,
    computed,
    element_at,
    element_of,
    folded,
    index,
    index_at,
    index_of,
    inside,
    is_above,
    is_zero,
    number,
    repeated,
    sizes_of,
)
from .elimination import identity, inverted, transposed, triangle
from .reflections import orthogonal, reflected
from .rotations import length, partner_of, ranks, tangent

SWEEPS = {"f32": 8, "f64": 10}
"""Rotations of every pair of columns of a triangular matrix. Of 80 columns with values from 1 to 1e-6, some of them equal, what is left is rounding
(tests/py/importers/test_singular_values.py)."""
_EPSILON = {"f32": float(np.finfo(np.float32).eps), "f64": float(np.finfo(np.float64).eps)}


@dataclass(frozen=True)
class _Turned:
    """A matrix with at least as many rows as columns is ``packed`` and ``factors``, those of its QR factorisation; R transposed is ``columns``, which are
    orthogonal to each other, the longest one first, times ``turns`` transposed; ``values`` are their lengths."""

    packed: ir.Value
    factors: ir.Value
    columns: ir.Value
    values: ir.Value
    turns: ir.Value

    def left(self, width: Size) -> ir.Value:
        """[..., rows, width] of left vectors: Q times those of R, and, where Q is square, its other columns."""
        *batch, rows, steps = sizes_of(self.packed)
        basis = orthogonal(self.packed, self.factors, width)
        zero = number(element_of(basis), 0)

        def added(indices: Indices, so_far: ir.Value) -> ir.Value:
            *at, i, j, k = indices
            turn = element_at(self.turns, at, k, inside(j, steps))
            return arith.addf(so_far, arith.mulf(element_at(basis, at, i, k), turn))

        product = folded([*batch, rows, steps], steps, zero, added)

        def chosen(indices: Indices) -> ir.Value:
            *at, i, j = indices
            turned = element_at(product, at, i, inside(j, steps))
            return arith.select(is_above(index_of(steps), j), turned, element_at(basis, at, i, j))

        return computed([*batch, rows, width], element_of(basis), chosen)

    def right(self) -> ir.Value:
        """[..., columns, columns] of right vectors. The columns are orthogonal, so that their own R is diagonal; its signs go to the vectors."""
        steps = sizes_of(self.values)[-1]
        assert isinstance(steps, int)
        packed, factors = reflected(self.columns, steps)
        basis = orthogonal(packed, factors, steps)

        def pointed(indices: Indices) -> ir.Value:
            *at, i, j = indices
            one = number(element_of(basis), 1)
            return arith.mulf(element_at(basis, at, i, j), math.copysign(one, element_at(packed, at, j, j)))

        return computed(sizes_of(basis), element_of(basis), pointed)


def singular_values(given: ir.Value) -> ir.Value:
    """[..., min(rows, columns)], descending."""
    return _turned(_upright(given), with_turns=False).values


def decomposed(given: ir.Value, full: bool) -> tuple[ir.Value, ir.Value, ir.Value]:
    """[..., rows, k] of left vectors, [..., k] of values, descending, and [..., k, columns] of right vectors, where k is the smaller size; if ``full``,
    both matrices are square. The vectors have LAPACK's directions, not its signs."""
    tall = _upright(given)
    found = _turned(tall, with_turns=True)
    *_batch, rows, steps = sizes_of(tall)
    left, right = found.left(rows if full else steps), found.right()
    if tall is given:
        return left, found.values, transposed(right)
    return right, found.values, transposed(left)


def pseudo_inverse(given: ir.Value, smallest: float, share: float) -> ir.Value:
    """[..., columns, rows]. Values of at most ``smallest``, or of at most this ``share`` of the largest one, count as 0."""
    tall = _upright(given)
    found = _turned(tall, with_turns=True)
    left, right = found.left(sizes_of(tall)[-1]), found.right()
    *batch, rows, steps = sizes_of(tall)
    element = element_of(given)

    def added(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, i, j, k = indices
        value = element_at(found.values, at, k)
        term = arith.divf(arith.mulf(element_at(right, at, i, k), element_at(left, at, j, k)), value)
        kept = arith.cmpf(arith.CmpFPredicate.UGT, value, _limit(found.values, at, smallest, share))
        return arith.select(kept, arith.addf(so_far, term), so_far)

    inverse = folded([*batch, steps, rows], steps, number(element, 0), added)
    return inverse if tall is given else transposed(inverse)


def rank(values: ir.Value, smallest: float, share: float, integer: ir.IntegerType) -> ir.Value:
    """How many of the ``values`` are above ``smallest`` and above this ``share`` of the largest one."""
    *batch, steps = sizes_of(values)

    def counted(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, k = indices
        above = arith.cmpf(
            arith.CmpFPredicate.OGT, element_at(values, at, k), _limit(values, at, smallest, share)
        )
        return arith.select(above, arith.addi(so_far, number(integer, 1)), so_far)

    return folded(batch, steps, number(integer, 0), counted)


def _upright(given: ir.Value) -> ir.Value:
    """With at least as many rows as columns."""
    rows, columns = ir.RankedTensorType(given.type).shape[-2:]
    return given if rows >= columns else transposed(given)


def _limit(values: ir.Value, at: Indices, smallest: float, share: float) -> ir.Value:
    """Up to what a value counts as 0."""
    element = element_of(values)
    relative = arith.mulf(number(element, share), element_at(values, at, index(0)))
    return arith.maximumf(number(element, smallest), relative)


def _turned(given: ir.Value, with_turns: bool) -> _Turned:
    """`_Turned` of a matrix with at least as many rows as columns; without meaning in its turns unless they are asked for.

    In a round every column has a partner and all pairs are turned at once, as in `rotations`; of a lower triangular matrix few sweeps are enough.
    """
    *batch, _rows, columns = sizes_of(given)
    assert isinstance(columns, int)
    element = element_of(given)
    scale = _scale(given)
    scaled = computed(
        sizes_of(given), element, lambda at: arith.divf(element_at(given, at[:-2], *at[-2:]), element_at(scale, at[:-2]))
    )  # fmt: skip
    packed, factors = reflected(scaled, columns)
    upper = triangle(packed, lower=False)
    square = [*batch, columns, columns]
    lower = computed(square, element, lambda at: element_at(upper, at[:-2], at[-1], at[-2]))
    rounds = columns - 1 if columns % 2 == 0 else columns
    # Columns of equal length that are orthogonal but for rounding would be turned by any angle, in each sweep.
    rounding = _EPSILON[str(element)] * columns**0.5

    def step(turn: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        line = arith.remui(turn, index(max(rounds, 1)))
        squares = _squares(carried[0])

        def multiplied(indices: Indices, so_far: ir.Value) -> ir.Value:
            *at, j, i = indices
            one = element_at(carried[0], at, i, j)
            other = element_at(carried[0], at, i, partner_of(j, line, columns))
            return arith.addf(so_far, arith.mulf(one, other))

        products = folded([*batch, columns], columns, number(element, 0), multiplied)

        def tangent_at(at: Indices) -> ir.Value:
            *outer, j = at
            other = partner_of(j, line, columns)
            low, high = arith.minui(j, other), arith.maxui(j, other)
            squared = [element_at(squares, outer, one) for one in (low, high)]
            # Of the lower one: both then have it from the same number.
            product = element_at(products, outer, low)
            noise = arith.mulf(number(element, rounding), math.sqrt(squared[0]))
            noise = arith.mulf(noise, math.sqrt(squared[1]))
            above = arith.cmpf(arith.CmpFPredicate.UGT, math.absf(product), noise)
            product = arith.select(above, product, number(element, 0))
            return tangent(j, other, product, arith.subf(squared[1], squared[0]))

        tangents = computed([*batch, columns], element, tangent_at)

        def rotated(indices: Indices, value: ir.Value) -> ir.Value:
            *at, i, j = indices
            slope = element_at(tangents, at, j)
            moved = arith.mulf(slope, element_at(value, at, i, partner_of(j, line, columns)))
            return arith.divf(arith.addf(element_at(value, at, i, j), moved), length(slope))

        def turned(value: ir.Value) -> ir.Value:
            return computed(sizes_of(value), element, lambda at: rotated(at, value))

        return [turned(value) for value in carried]

    start = [lower, identity(square, element)] if with_turns else [lower]
    ended = repeated(SWEEPS[str(element)] * rounds, start, step) if columns > 1 else start
    squares = _squares(ended[0])
    # Ascending in what is below 0 is descending.
    negative = computed(
        [*batch, columns], element, lambda at: arith.negf(element_at(squares, at[:-1], at[-1]))
    )
    order = inverted(ranks(negative))

    def place(at: Indices) -> ir.Value:
        return inside(index_at(order, at[:-1], at[-1]), columns)

    def value_at(at: Indices) -> ir.Value:
        root = math.sqrt(element_at(squares, at[:-1], place(at)))
        return arith.mulf(root, element_at(scale, at[:-1]))

    def in_order(value: ir.Value) -> ir.Value:
        return computed(
            square, element, lambda at: element_at(value, at[:-2], at[-2], place([*at[:-2], at[-1]]))
        )

    return _Turned(
        packed,
        factors,
        in_order(ended[0]),
        computed([*batch, columns], element, value_at),
        in_order(ended[-1]),
    )


def _squares(value: ir.Value) -> ir.Value:
    """[..., columns]: the square of the length of each column."""
    *batch, rows, columns = sizes_of(value)

    def added(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, j, i = indices
        one = element_at(value, at, i, j)
        return arith.addf(so_far, arith.mulf(one, one))

    return folded([*batch, columns], rows, number(element_of(value), 0), added)


def _scale(given: ir.Value) -> ir.Value:
    """[...]: the size of the largest element, by which squares neither overflow nor vanish; 1 where all are 0."""
    *batch, rows, columns = sizes_of(given)
    element = element_of(given)

    def larger(value: ir.Value, at: Indices, *place: ir.Value, so_far: ir.Value) -> ir.Value:
        return arith.maximumf(so_far, math.absf(element_at(value, at, *place)))

    zero = number(element, 0)
    of_rows = folded(
        [*batch, rows], columns, zero, lambda at, old: larger(given, at[:-2], *at[-2:], so_far=old)
    )
    largest = folded(batch, rows, zero, lambda at, old: larger(of_rows, at[:-1], at[-1], so_far=old))

    def positive(at: Indices) -> ir.Value:
        found = element_at(largest, at)
        return arith.select(is_zero(found), number(element, 1), found)

    return computed(batch, element, positive)
