"""Factorisations of matrices, and systems of linear equations, as loops of linalg ops.

A loop runs on the host and makes one step for each column, on all elements of a batch of matrices at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from .batches import (
    Indices,
    Size,
    broadcast_sizes,
    computed,
    element_at,
    element_of,
    folded,
    index,
    index_at,
    index_of,
    inside,
    is_above,
    is_same,
    is_zero,
    number,
    repeated,
    sizes_of,
)


@dataclass(frozen=True)
class Factors:
    """P A = L U. ``packed``: U, and below its diagonal L without its ones. ``pivots``: [..., k], the row that step k swaps with row k.
    ``order``: [..., rows], the row of A that each row of P A is. Both are i32 and count from 0."""

    packed: ir.Value
    pivots: ir.Value
    order: ir.Value


def factored(given: ir.Value) -> Factors:
    """Gaussian elimination with row exchange, as LAPACK's getrf: a column of zeros is passed over."""
    *batch, rows, columns = sizes_of(given)
    steps = min(rows, columns) if isinstance(rows, int) and isinstance(columns, int) else columns
    element, integer = element_of(given), ir.IntegerType.get_signless(32)
    pivots = computed([*batch, steps], integer, lambda _indices: arith.constant(integer, 0))
    order = computed([*batch, rows], integer, lambda indices: arith.index_cast(integer, indices[-1]))

    def step(k: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        matrix, pivots, order = carried
        pivot = _largest_from(matrix, k)

        def eliminated(indices: Indices) -> ir.Value:
            *at, i, j = indices
            row = inside(index_at(pivot, at), rows)
            value = element_at(matrix, at, _swapped(i, k, row), j)
            top, head = element_at(matrix, at, row, j), element_at(matrix, at, row, k)
            first = element_at(matrix, at, _swapped(i, k, row), k)
            factor = arith.select(is_zero(head), number(element, 0), arith.divf(first, head))
            changed = arith.select(is_same(j, k), factor, arith.subf(value, arith.mulf(factor, top)))
            return arith.select(arith.andi(is_above(i, k), _not_below(j, k)), changed, value)

        def placed(indices: Indices) -> ir.Value:
            *at, i = indices
            return arith.select(is_same(i, k), element_at(pivot, at), element_at(pivots, at, i))

        def reordered(indices: Indices) -> ir.Value:
            *at, i = indices
            return element_at(order, at, _swapped(i, k, inside(index_at(pivot, at), rows)))

        return [
            computed([*batch, rows, columns], element, eliminated),
            computed([*batch, steps], integer, placed),
            computed([*batch, rows], integer, reordered),
        ]

    return Factors(*repeated(steps, [given, pivots, order], step))


def cholesky(given: ir.Value) -> ir.Value:
    """The lower factor of a symmetric matrix, of which the lower half is read; NaN where it is not positive definite."""
    element, sizes = element_of(given), sizes_of(given)

    def step(k: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        (matrix,) = carried

        def eliminated(indices: Indices) -> ir.Value:
            *at, i, j = indices
            value, root = element_at(matrix, at, i, j), math.sqrt(element_at(matrix, at, k, k))
            column = arith.select(is_same(i, k), root, arith.divf(value, root))
            column = arith.select(is_above(k, i), number(element, 0), column)
            one, other = (arith.divf(element_at(matrix, at, row, k), root) for row in (i, j))
            rest = arith.subf(value, arith.mulf(one, other))
            return arith.select(is_same(j, k), column, arith.select(is_above(j, k), rest, value))

        return [computed(sizes, element, eliminated)]

    return repeated(sizes[-1], [given], step)[0]


def substituted(
    matrix: ir.Value, right: ir.Value, lower: bool, unit: bool = False, turned: bool = False
) -> ir.Value:
    """The X of A X = ``right`` for a triangular A: ``matrix``, or its transpose where it is ``turned``.

    ``lower``: which half of ``matrix`` is read. ``unit``: its diagonal is not read and taken as ones. A batch of either may be broadcast.
    """
    element = element_of(right)
    *_batch, rows, columns = sizes_of(right)
    sizes = [*broadcast_sizes(matrix, right), rows, columns]
    start = computed(sizes, element, lambda at: element_at(right, at[:-2], *at[-2:]))
    forwards = lower != turned

    def step(turn: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        (solved,) = carried
        last = arith.subi(index_of(rows), index(1))
        k = turn if forwards else arith.subi(last, turn)

        def replaced(indices: Indices) -> ir.Value:
            *at, i, j = indices
            mine, known = element_at(solved, at, i, j), element_at(solved, at, k, j)
            if not unit:
                known = arith.divf(known, element_at(matrix, at, k, k))
            place = (k, i) if turned else (i, k)
            rest = arith.subf(mine, arith.mulf(element_at(matrix, at, *place), known))
            behind = is_above(i, k) if forwards else is_above(k, i)
            return arith.select(is_same(i, k), known, arith.select(behind, rest, mine))

        return [computed(sizes, element, replaced)]

    return repeated(rows, [start], step)[0]


def solved(factors: Factors, right: ir.Value, turned: bool = False) -> ir.Value:
    """The X of A X = ``right``, or with the transpose of A."""
    *_batch, rows, columns = sizes_of(right)
    sizes = [*broadcast_sizes(factors.packed, right), rows, columns]
    if turned:  # U^T L^T P X = right
        found = substituted(factors.packed, right, lower=False, turned=True)
        found = substituted(factors.packed, found, lower=True, unit=True, turned=True)
        back = inverted(factors.order)
        return computed(
            sizes,
            element_of(right),
            lambda at: element_at(found, at[:-2], inside(index_at(back, at[:-2], at[-2]), rows), at[-1]),
        )
    moved = computed(
        sizes,
        element_of(right),
        lambda at: element_at(right, at[:-2], inside(index_at(factors.order, at[:-2], at[-2]), rows), at[-1]),
    )
    found = substituted(factors.packed, moved, lower=True, unit=True)
    return substituted(factors.packed, found, lower=False)


def determinant(factors: Factors) -> ir.Value:
    """[...]: the product of the pivots, and -1 for each exchange of rows."""
    element = element_of(factors.packed)

    def multiplied(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, k = indices
        return arith.mulf(
            so_far, arith.mulf(element_at(factors.packed, at, k, k), _sign_of_step(factors, at, k))
        )

    return _over_steps(factors.pivots, number(element, 1), multiplied)


def sign_and_logarithm(factors: Factors) -> tuple[ir.Value, ir.Value]:
    """[...] each: the sign of the determinant (0 of 0), and the logarithm of its absolute value."""
    element = element_of(factors.packed)

    def signed(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, k = indices
        value = element_at(factors.packed, at, k, k)
        sign = math.copysign(number(element, 1), value)
        sign = arith.select(is_zero(value), number(element, 0), sign)
        return arith.mulf(so_far, arith.mulf(sign, _sign_of_step(factors, at, k)))

    def added(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, k = indices
        return arith.addf(so_far, math.log(math.absf(element_at(factors.packed, at, k, k))))

    return (
        _over_steps(factors.pivots, number(element, 1), signed),
        _over_steps(factors.pivots, number(element, 0), added),
    )


def first_failing(matrix: ir.Value, like: ir.Value, definite: bool) -> ir.Value:
    """[...] of i32: the first place, from 1, of the diagonal of ``matrix`` that is 0, or, if ``definite``, that is NaN; 0 where there is none.
    ``like``: [..., steps]."""
    integer = ir.IntegerType.get_signless(32)

    def counted(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, k = indices
        value = element_at(matrix, at, k, k)
        fails = arith.cmpf(arith.CmpFPredicate.UNO, value, value) if definite else is_zero(value)
        place = arith.addi(arith.index_cast(integer, k), arith.constant(integer, 1))
        none = arith.cmpi(arith.CmpIPredicate.eq, so_far, arith.constant(integer, 0))
        earliest = arith.select(none, place, arith.minsi(so_far, place))
        return arith.select(fails, earliest, so_far)

    return _over_steps(like, arith.constant(integer, 0), counted)


def identity(sizes: Sequence[Size], element: ir.Type) -> ir.Value:
    def one(indices: Indices) -> ir.Value:
        return arith.select(is_same(indices[-2], indices[-1]), number(element, 1), number(element, 0))

    return computed(sizes, element, one)


def transposed(value: ir.Value) -> ir.Value:
    *batch, rows, columns = sizes_of(value)
    return computed(
        [*batch, columns, rows], element_of(value), lambda at: element_at(value, at[:-2], at[-1], at[-2])
    )


def triangle(value: ir.Value, lower: bool, unit: bool = False) -> ir.Value:
    """The lower or upper half of ``value`` with its diagonal, or with ones there, and zeros elsewhere."""
    element = element_of(value)

    def kept(indices: Indices) -> ir.Value:
        *at, i, j = indices
        outside = is_above(j, i) if lower else is_above(i, j)
        found = arith.select(outside, number(element, 0), element_at(value, at, i, j))
        return arith.select(is_same(i, j), number(element, 1), found) if unit else found

    return computed(sizes_of(value), element, kept)


def counted_from(value: ir.Value, first: int) -> ir.Value:
    """Numbers that count from 0, as ones that count from ``first``; the reverse where it is -1."""
    element = element_of(value)
    return computed(
        sizes_of(value),
        element,
        lambda at: arith.addi(element_at(value, at), arith.constant(element, first)),
    )


def order_of(pivots: ir.Value, rows: Size) -> ir.Value:
    """`Factors.order` of `Factors.pivots`."""
    *batch, steps = sizes_of(pivots)
    integer = ir.IntegerType.get_signless(32)
    start = computed([*batch, rows], integer, lambda indices: arith.index_cast(integer, indices[-1]))

    def step(k: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        (order,) = carried

        def reordered(indices: Indices) -> ir.Value:
            *at, i = indices
            return element_at(order, at, _swapped(i, k, inside(index_at(pivots, at, k), rows)))

        return [computed([*batch, rows], integer, reordered)]

    return repeated(steps, [start], step)[0]


def permutation(order: ir.Value, element: ir.Type) -> ir.Value:
    """[..., rows, rows]: the P of A = P L U."""
    *batch, rows = sizes_of(order)

    def one(indices: Indices) -> ir.Value:
        *at, i, j = indices
        return arith.select(is_same(index_at(order, at, j), i), number(element, 1), number(element, 0))

    return computed([*batch, rows, rows], element, one)


def _over_steps(steps: ir.Value, start: ir.Value, body: Callable[[Indices, ir.Value], ir.Value]) -> ir.Value:
    *batch, length = sizes_of(steps)
    return folded(batch, length, start, body)


def _largest_from(matrix: ir.Value, k: ir.Value) -> ir.Value:
    """[...] of i32: the first of the rows from ``k`` on whose element in column ``k`` has the largest absolute value."""
    *batch, rows, _columns = sizes_of(matrix)
    integer = ir.IntegerType.get_signless(32)

    def larger(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, i = indices
        known = inside(arith.index_cast(ir.IndexType.get(), so_far), rows)
        mine, largest = (math.absf(element_at(matrix, at, row, k)) for row in (i, known))
        takes = arith.andi(is_above(i, k), arith.cmpf(arith.CmpFPredicate.OGT, mine, largest))
        return arith.select(takes, arith.index_cast(integer, i), so_far)

    return folded(batch, rows, arith.index_cast(integer, k), larger)


def inverted(order: ir.Value) -> ir.Value:
    *batch, rows = sizes_of(order)
    integer = element_of(order)

    def found(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, i, j = indices
        here = is_same(index_at(order, at, j), i)
        return arith.select(here, arith.index_cast(integer, j), so_far)

    return folded([*batch, rows], rows, number(integer, 0), found)


def _swapped(i: ir.Value, k: ir.Value, pivot: ir.Value) -> ir.Value:
    """The row that an exchange of rows ``k`` and ``pivot`` brings to ``i``."""
    return arith.select(is_same(i, k), pivot, arith.select(is_same(i, pivot), k, i))


def _sign_of_step(factors: Factors, at: Indices, k: ir.Value) -> ir.Value:
    element = element_of(factors.packed)
    stays = is_same(index_at(factors.pivots, at, k), k)
    return arith.select(stays, number(element, 1), number(element, -1))


def _not_below(one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.uge, one, other)


def as_columns(value: ir.Value) -> ir.Value:
    """A batch of vectors as matrices of one column."""
    return computed([*sizes_of(value), 1], element_of(value), lambda at: element_at(value, at[:-2], at[-2]))


def diagonal(value: ir.Value) -> ir.Value:
    *batch, rows, _columns = sizes_of(value)
    return computed([*batch, rows], element_of(value), lambda at: element_at(value, at[:-1], at[-1], at[-1]))
