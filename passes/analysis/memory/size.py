"""Sizes that may depend on dynamic dimensions: polynomials with non-negative integer coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A sum of terms, each a coefficient times dimensions: ``{(): 64, ("n0",): 16}`` is 64 + 16*n0.

    Python integers do not wrap. A size without dimensions is static.
    """

    terms: tuple[tuple[tuple[str, ...], int], ...]

    @staticmethod
    def of(value: int | str | Size) -> Size:
        """A constant, a dynamic dimension by its name, or a size as it is."""
        if isinstance(value, Size):
            return value
        return _from({(value,): 1} if isinstance(value, str) else {(): value})

    def __add__(self, other: int | str | Size) -> Size:
        sums = dict(self.terms)
        for dims, factor in Size.of(other).terms:
            sums[dims] = sums.get(dims, 0) + factor
        return _from(sums)

    def __mul__(self, other: int | str | Size) -> Size:
        products: dict[tuple[str, ...], int] = {}
        for left, a in self.terms:
            for right, b in Size.of(other).terms:
                dims = tuple(sorted(left + right))
                products[dims] = products.get(dims, 0) + a * b
        return _from(products)

    @property
    def static(self) -> int | None:
        """The number, or None where it depends on a dimension."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(sorted({dim for dims, _ in self.terms for dim in dims}))

    def at(self, values: Mapping[str, int]) -> int:
        """The number for given dimensions; raises KeyError where one is missing."""
        result = 0
        for dims, factor in self.terms:
            for dim in dims:
                factor *= values[dim]
            result += factor
        return result

    def __str__(self) -> str:
        parts = []
        for dims, factor in self.terms:
            factors = ([str(factor)] if factor != 1 or not dims else []) + list(dims)
            parts.append("*".join(factors))
        return " + ".join(parts) or "0"


def _from(terms: Mapping[tuple[str, ...], int]) -> Size:
    ordered = sorted(terms.items(), key=lambda item: (-len(item[0]), item[0]))
    return Size(tuple((dims, factor) for dims, factor in ordered if factor))


def product(factors: list[int | str | Size]) -> Size:
    """The product; 1 where there are no factors."""
    result = Size.of(1)
    for factor in factors:
        result = result * factor
    return result


def largest_that_fits(total, dimension: str, limit: int, others: Mapping[str, int]) -> int | None:
    """The largest value of ``dimension`` for which ``total(values) <= limit``; None: even 1 does not fit.

    ``total`` must not fall when the dimension grows. -1 says that every value up to 2**62 fits.
    """
    low, high = 0, 2**62
    if total({**others, dimension: high}) <= limit:
        return -1
    while high - low > 1:
        middle = (low + high) // 2
        if total({**others, dimension: middle}) <= limit:
            low = middle
        else:
            high = middle
    return low or None
