"""An indexing map's result as a sum of loops, and which loops index an operand's dimension alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from iree.compiler import ir

T = TypeVar("T")


@dataclass(frozen=True)
class Linear:
    """One result of an indexing map: ``sum(coefficients[k] * loop_k) + constant``."""

    coefficients: tuple[int, ...]
    constant: int = 0

    @property
    def loops(self) -> tuple[int, ...]:
        return tuple(k for k, factor in enumerate(self.coefficients) if factor)

    @property
    def loop(self) -> int | None:
        """The loop, where the result is that loop alone."""
        return self.loops[0] if len(self.loops) == 1 and self.coefficients[self.loops[0]] == 1 else None

    @property
    def steps(self) -> dict[int, int]:
        """Loop -> coefficient, of the loops that it depends on."""
        return {loop: self.coefficients[loop] for loop in self.loops}

    def range(self, extents: Sequence[int], fixed: Mapping[int, int]) -> tuple[int, int]:
        """The smallest and the largest value, both included; the loops of ``fixed`` are held at an index."""
        low = high = self.constant
        for loop, step in self.steps.items():
            ends = (step * fixed[loop],) * 2 if loop in fixed else (0, step * (extents[loop] - 1))
            low, high = low + min(ends), high + max(ends)
        return low, high


def linear_index(expression: ir.AffineExpr, loops: int) -> Linear | None:
    """``expression`` over ``loops`` loops; None where it has a division, a remainder or a symbol."""
    from iree.compiler import ir

    coefficients, constant = [0] * loops, 0

    def add(e: ir.AffineExpr, factor: int) -> bool:
        nonlocal constant
        if isinstance(e, ir.AffineDimExpr):
            coefficients[e.position] += factor
            return True
        if isinstance(e, ir.AffineConstantExpr):
            constant += factor * e.value
            return True
        if isinstance(e, ir.AffineAddExpr):
            return add(e.lhs, factor) and add(e.rhs, factor)
        if isinstance(e, ir.AffineMulExpr) and isinstance(e.rhs, ir.AffineConstantExpr):
            return add(e.lhs, factor * e.rhs.value)
        return False

    return Linear(tuple(coefficients), constant) if add(expression, 1) else None


def dimensions_of_loops(maps: Sequence[ir.AffineMap]) -> Iterator[tuple[int, int, int]]:
    """(loop, operand, dimension) wherever one loop alone indexes a dimension of an operand, operand by operand."""
    from iree.compiler import ir

    for operand, map_ in enumerate(maps):
        for dimension, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                yield expression.position, operand, dimension


def extents_of_loops(
    maps: Sequence[ir.AffineMap],
    size: Callable[[int, int], T | None],
    is_static: Callable[[T], bool] = lambda _: True,
    *,
    last: bool = False,
) -> tuple[T | None, ...]:
    """The extent of each loop, read off a dimension that it alone indexes; None where no dimension says it.

    ``size(operand, dimension)`` is what the caller has for a dimension: a number, a term, a value, None where it has nothing.
    Of several sizes the first that ``is_static`` counts; where none is, the first, or the ``last``.
    """
    extents: list[T | None] = [None] * maps[0].n_dims
    reads = list(dimensions_of_loops(maps))
    for loop, operand, dimension in reversed(reads) if last else reads:
        known = extents[loop]
        if known is not None and is_static(known):
            continue
        found = size(operand, dimension)
        if found is not None and (known is None or is_static(found)):
            extents[loop] = found
    return tuple(extents)
