"""Eigenvalues and eigenvectors of symmetric matrices by Jacobi's rotations."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from .batches import (
    Indices,
    computed,
    element_at,
    element_of,
    folded,
    index,
    index_at,
    inside,
    is_above,
    is_same,
    is_zero,
    number,
    repeated,
    sizes_of,
)
from .elimination import diagonal, identity, inverted

SWEEPS = {"f32": 10, "f64": 14}
"""Rotations of every pair. Of random matrices with 128 rows, what is left is rounding (tests/py/importers/test_linear_algebra.py)."""


def symmetric(given: ir.Value, lower: bool) -> ir.Value:
    """The matrix of which the ``lower`` or upper half is given."""

    def mirrored(indices: Indices) -> ir.Value:
        *at, i, j = indices
        one, other = element_at(given, at, i, j), element_at(given, at, j, i)
        return arith.select(is_above(j, i), other, one) if lower else arith.select(is_above(i, j), other, one)

    return computed(sizes_of(given), element_of(given), mirrored)


def eigenvalues(given: ir.Value) -> tuple[ir.Value, ir.Value]:
    """[..., rows], ascending, and [..., rows, rows], the vectors as columns, of a symmetric matrix with a known number of rows.

    In a round every row has a partner and all pairs are rotated at once; a sweep of rows - 1 rounds has every pair once.
    """
    *batch, rows, _rows = sizes_of(given)
    assert isinstance(rows, int)
    element, sizes = element_of(given), sizes_of(given)
    rounds = rows - 1 if rows % 2 == 0 else rows

    def step(turn: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        matrix, vectors = carried
        line = arith.remui(turn, index(max(rounds, 1)))

        def cosine(at: Indices) -> ir.Value:
            slope = _tangent(matrix, at[:-1], at[-1], partner_of(at[-1], line, rows))
            return arith.divf(number(element, 1), length(slope))

        def sine(at: Indices) -> ir.Value:
            slope = _tangent(matrix, at[:-1], at[-1], partner_of(at[-1], line, rows))
            return arith.divf(slope, length(slope))

        cosines = computed([*batch, rows], element, cosine)
        sines = computed([*batch, rows], element, sine)

        def turned(value: ir.Value, at: Indices, i: ir.Value, j: ir.Value) -> ir.Value:
            """Element (i, j) with its columns rotated."""
            mine = arith.mulf(element_at(cosines, at, j), element_at(value, at, i, j))
            other = element_at(value, at, i, partner_of(j, line, rows))
            return arith.addf(mine, arith.mulf(element_at(sines, at, j), other))

        def rotated(indices: Indices) -> ir.Value:
            *at, i, j = indices
            mine = arith.mulf(element_at(cosines, at, i), turned(matrix, at, i, j))
            other = turned(matrix, at, partner_of(i, line, rows), j)
            return arith.addf(mine, arith.mulf(element_at(sines, at, i), other))

        return [
            computed(sizes, element, rotated),
            computed(sizes, element, lambda at: turned(vectors, at[:-2], at[-2], at[-1])),
        ]

    start = [given, identity(sizes, element)]
    matrix, vectors = repeated(SWEEPS[str(element)] * rounds, start, step) if rows > 1 else start
    values = diagonal(matrix)
    order = inverted(ranks(values))

    def column(at: Indices) -> ir.Value:
        return inside(index_at(order, at[:-1], at[-1]), rows)

    return (
        computed([*batch, rows], element, lambda at: element_at(values, at[:-1], column(at))),
        computed(sizes, element, lambda at: element_at(vectors, at[:-2], at[-2], column([*at[:-2], at[-1]]))),
    )


def partner_of(i: ir.Value, line: ir.Value, rows: int) -> ir.Value:
    """The row that is rotated with row ``i`` in a round: the two add up to ``line``, modulo the number of rounds; the row that would be its own
    partner has the last one, or, of an odd number of rows, none."""
    rounds = rows - 1 if rows % 2 == 0 else rows
    other = arith.remui(arith.subi(arith.addi(line, index(rounds)), i), index(rounds))
    if rows % 2:
        return inside(other, rows)
    last = index(rows - 1)
    # The row whose double is `line` modulo an odd number.
    alone = arith.remui(arith.muli(line, index((rounds + 1) // 2)), index(rounds))
    other = arith.select(is_same(other, i), last, other)
    return inside(arith.select(is_same(i, last), alone, other), rows)


def _tangent(matrix: ir.Value, at: Indices, i: ir.Value, partner: ir.Value) -> ir.Value:
    """Of the angle that makes the element of the two rows 0."""
    # Both rows compute one angle from the same elements: with two that differ in the last digit, the vectors lose their right angles.
    low, high = arith.minui(i, partner), arith.maxui(i, partner)
    apart = arith.subf(element_at(matrix, at, high, high), element_at(matrix, at, low, low))
    return tangent(i, partner, element_at(matrix, at, low, high), apart)


def tangent(i: ir.Value, partner: ir.Value, between: ir.Value, apart: ir.Value) -> ir.Value:
    """Of the angle that makes the element ``between`` the two 0, where the diagonal element of the higher one is ``apart`` from the other's, to be
    added to ``i``: the partner has it with the other sign."""
    element = between.type
    cotangent = arith.divf(apart, arith.mulf(number(element, 2), between))
    size = arith.divf(number(element, 1), arith.addf(math.absf(cotangent), length(cotangent)))
    signed = math.copysign(size, cotangent)
    idle = arith.ori(is_zero(between), is_same(i, partner))
    signed = arith.select(is_above(partner, i), arith.negf(signed), signed)
    return arith.select(idle, number(element, 0), signed)


def length(value: ir.Value) -> ir.Value:
    """The square root of 1 and the square of ``value``."""
    return math.sqrt(arith.addf(arith.mulf(value, value), number(value.type, 1)))


def ranks(values: ir.Value) -> ir.Value:
    """[..., rows] of i32: the place of each value in ascending order; equal ones stay in theirs."""
    *batch, rows = sizes_of(values)
    integer = ir.IntegerType.get_signless(32)

    def counted(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, i, j = indices
        mine, other = element_at(values, at, i), element_at(values, at, j)
        less = arith.cmpf(arith.CmpFPredicate.OLT, other, mine)
        equal = arith.andi(arith.cmpf(arith.CmpFPredicate.OEQ, other, mine), is_above(i, j))
        return arith.select(arith.ori(less, equal), arith.addi(so_far, arith.constant(integer, 1)), so_far)

    return folded([*batch, rows], rows, arith.constant(integer, 0), counted)
