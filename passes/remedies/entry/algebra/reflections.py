"""QR factorisations by Householder's reflections, in the packed form of LAPACK's geqrf."""

from __future__ import annotations

from collections.abc import Sequence

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
    index_of,
    is_above,
    is_same,
    is_zero,
    number,
    repeated,
    sizes_of,
)
from .elimination import identity


def reflected(given: ir.Value, steps: int) -> tuple[ir.Value, ir.Value]:
    """R with the reflections' vectors below its diagonal, which lack their leading 1, and [..., steps] the factor of each."""
    *batch, rows, columns = sizes_of(given)
    element = element_of(given)
    factors = computed([*batch, steps], element, lambda _at: number(element, 0))

    def step(k: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        matrix, factors = carried

        def larger(indices: Indices, so_far: ir.Value) -> ir.Value:
            *at, i = indices
            value = math.absf(element_at(matrix, at, i, k))
            return arith.select(is_above(k, i), so_far, arith.maximumf(so_far, value))

        largest = folded(batch, rows, number(element, 0), larger)

        def share(at: Indices, i: ir.Value) -> ir.Value:
            """Of the largest element of the column: squares neither overflow nor vanish."""
            largest_one = element_at(largest, at)
            quotient = arith.divf(element_at(matrix, at, i, k), largest_one)
            return arith.select(is_zero(largest_one), number(element, 0), quotient)

        def squared(indices: Indices, so_far: ir.Value) -> ir.Value:
            *at, i = indices
            value = share(at, i)
            return arith.select(is_above(i, k), arith.addf(so_far, arith.mulf(value, value)), so_far)

        below = folded(batch, rows, number(element, 0), squared)

        def diagonal(at: Indices) -> ir.Value:
            """What R has there: the norm of the column with the other sign, or, where nothing is below, what is there."""
            head, rest = element_at(matrix, at, k, k), element_at(below, at)
            first = share(at, k)
            norm = math.sqrt(arith.addf(arith.mulf(first, first), rest))
            norm = arith.mulf(element_at(largest, at), norm)
            return arith.select(is_zero(rest), head, arith.negf(math.copysign(norm, head)))

        made = computed(batch, element, diagonal)

        def factor(at: Indices) -> ir.Value:
            head, norm = element_at(matrix, at, k, k), element_at(made, at)
            quotient = arith.divf(arith.subf(norm, head), norm)
            return arith.select(is_zero(element_at(below, at)), number(element, 0), quotient)

        scale = computed(batch, element, factor)

        def vector(at: Indices, i: ir.Value) -> ir.Value:
            head, norm = element_at(matrix, at, k, k), element_at(made, at)
            quotient = arith.divf(element_at(matrix, at, i, k), arith.subf(head, norm))
            quotient = arith.select(is_zero(element_at(below, at)), number(element, 0), quotient)
            return arith.select(is_same(i, k), number(element, 1), quotient)

        along = computed([*batch, rows], element, lambda at: _from(at[-1], k, vector(at[:-1], at[-1])))
        products = _products(along, matrix, batch, rows, columns)

        def changed(indices: Indices) -> ir.Value:
            *at, i, j = indices
            value, mine = element_at(matrix, at, i, j), element_at(along, at, i)
            change = arith.mulf(arith.mulf(element_at(scale, at), mine), element_at(products, at, j))
            column = arith.select(is_same(i, k), element_at(made, at), mine)
            column = arith.select(is_above(k, i), value, column)
            rest = arith.select(is_above(j, k), arith.subf(value, change), value)
            return arith.select(is_same(j, k), column, rest)

        def placed(indices: Indices) -> ir.Value:
            *at, i = indices
            return arith.select(is_same(i, k), element_at(scale, at), element_at(factors, at, i))

        return [
            computed([*batch, rows, columns], element, changed),
            computed([*batch, steps], element, placed),
        ]

    packed, factors = repeated(steps, [given, factors], step)
    return packed, factors


def orthogonal(packed: ir.Value, factors: ir.Value, columns: Size) -> ir.Value:
    """[..., rows, columns]: the first columns of the product of the reflections."""
    *batch, rows, _columns = sizes_of(packed)
    steps, element = sizes_of(factors)[-1], element_of(packed)

    def step(turn: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        (matrix,) = carried
        k = arith.subi(arith.subi(index_of(steps), index(1)), turn)

        def vector(at: Indices) -> ir.Value:
            *outer, i = at
            found = arith.select(is_same(i, k), number(element, 1), element_at(packed, outer, i, k))
            return _from(i, k, found)

        along = computed([*batch, rows], element, vector)
        products = _products(along, matrix, batch, rows, columns)

        def changed(indices: Indices) -> ir.Value:
            *at, i, j = indices
            change = arith.mulf(element_at(factors, at, k), element_at(along, at, i))
            change = arith.mulf(change, element_at(products, at, j))
            return arith.subf(element_at(matrix, at, i, j), change)

        return [computed([*batch, rows, columns], element, changed)]

    return repeated(steps, [identity([*batch, rows, columns], element)], step)[0]


def _from(i: ir.Value, k: ir.Value, value: ir.Value) -> ir.Value:
    """``value`` from place ``k`` on, and 0 before."""
    return arith.select(is_above(k, i), number(value.type, 0), value)


def _products(
    along: ir.Value, matrix: ir.Value, batch: Sequence[Size], rows: Size, columns: Size
) -> ir.Value:
    """[..., columns]: the vectors ``along`` times each column."""

    def added(indices: Indices, so_far: ir.Value) -> ir.Value:
        *at, j, i = indices
        return arith.addf(so_far, arith.mulf(element_at(along, at, i), element_at(matrix, at, i, j)))

    return folded([*batch, columns], rows, number(element_of(matrix), 0), added)
