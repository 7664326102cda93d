"""Bounds of the elements of a tensor, one pair for each element or one for all."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LARGEST = 1 << 22
"""Elements that are bounded one by one; of a larger tensor all elements share their bounds (two arrays of f64: 64 MiB)."""
_EXACT = 53
"""Bits of an integer that f64 holds."""
_LARGEST_F32 = 2.0**128 - 2.0**104
_FINITE = {"f16": 65504.0, "bf16": 2.0**128 - 2.0**120, "f32": _LARGEST_F32, "f64": _LARGEST_F32}
"""Element type -> its largest finite number; IREE makes f64 f32."""
_INTEGER = re.compile(r"[su]?i(\d+)")
_SURE = 256
"""Up to it every float type of PyTorch has every integer."""


@dataclass(frozen=True)
class Bounds:
    """``low`` and ``high`` have a shape that NumPy broadcasts to the tensor's; of NaNs they say nothing.

    A boolean is 0 or 1. An infinite bound of a float is a number that it may be.
    """

    low: np.ndarray
    high: np.ndarray

    @staticmethod
    def of(low: float, high: float) -> Bounds:
        return Bounds(np.array(low, float), np.array(high, float))

    @staticmethod
    def exactly(numbers: np.ndarray) -> Bounds:
        if numbers.size > LARGEST:
            return Bounds.of(numbers.min(), numbers.max())
        found = numbers.astype(float)
        return Bounds(found, found)

    @property
    def uniform(self) -> Bounds:
        """The same bounds for all elements."""
        if not self.low.size:
            return Bounds.of(-math.inf, math.inf)
        return Bounds(np.array(self.low.min()), np.array(self.high.max()))

    def of_type(self, element: str) -> Bounds:
        """The bounds of what elements of that type hold of these numbers."""
        low = np.where(np.isnan(self.low), -math.inf, self.low)
        high = np.where(np.isnan(self.high), math.inf, self.high)
        if element in _FINITE:
            largest = _FINITE[element]
            return Bounds(np.where(low < -largest, -math.inf, low), np.where(high > largest, math.inf, high))
        if element == "i1":
            return Bounds(low, high)
        width = _INTEGER.fullmatch(element)
        if width is None:
            return Bounds.of(-math.inf, math.inf)
        signed, bits = element.startswith("s"), int(width[1])
        least, most = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) if signed else (0.0, 2.0**bits - 1)
        least, most = max(least, -(2.0**_EXACT)), min(most, 2.0**_EXACT)
        wraps = (low < least) | (high > most)
        return Bounds(np.where(wraps, -math.inf, low), np.where(wraps, math.inf, high))

    @property
    def is_sure(self) -> bool:
        """Whether they are numbers that no float type rounds."""
        known = np.isinf(self.low) | (np.abs(self.low) <= _SURE) & (self.low == np.trunc(self.low))
        return bool(np.all((self.low == self.high) & known))

    def joined(self, other: Bounds) -> Bounds:
        """Of an element that is either tensor's."""
        return Bounds(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def least(self, other: Bounds) -> Bounds:
        return Bounds(np.minimum(self.low, other.low), np.minimum(self.high, other.high))

    def largest(self, other: Bounds) -> Bounds:
        return Bounds(np.maximum(self.low, other.low), np.maximum(self.high, other.high))

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> Bounds:
        """After ``change``, which moves elements, or never makes a larger number a smaller one."""
        return Bounds(change(self.low), change(self.high))

    def __neg__(self) -> Bounds:
        return Bounds(-self.high, -self.low)

    def __add__(self, other: Bounds) -> Bounds:
        with np.errstate(all="ignore"):
            return Bounds(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Bounds) -> Bounds:
        with np.errstate(all="ignore"):
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            # Not `fmin`: infinity by 0 is NaN, of which `of_type` makes no bound.
            return Bounds(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def where(self, yes: Bounds, no: Bounds) -> Bounds:
        """``yes`` where this boolean holds, ``no`` where it does not, either where it is not known."""
        either, certain = yes.joined(no), self.low > 0
        never = self.high < 1
        low = np.where(certain, yes.low, np.where(never, no.low, either.low))
        return Bounds(low, np.where(certain, yes.high, np.where(never, no.high, either.high)))

    @property
    def as_boolean(self) -> Bounds:
        """Of whether the element is not 0."""
        never = (self.low == 0) & (self.high == 0)
        return Bounds(((self.low > 0) | (self.high < 0)).astype(float), (~never).astype(float))


COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")


def compared(name: str, left: Bounds, right: Bounds) -> Bounds:
    """The boolean of ``left`` ``name`` ``right``, one of `COMPARISONS`."""
    if name in ("le", "lt"):
        return compared({"le": "ge", "lt": "gt"}[name], right, left)
    if name == "ge":
        always, ever = left.low >= right.high, left.high >= right.low
    elif name == "gt":
        always, ever = left.low > right.high, left.high > right.low
    else:
        ever = (left.high >= right.low) & (left.low <= right.high)
        always = (left.low == left.high) & (right.low == right.high) & ever
        if name == "ne":
            always, ever = ~ever, ~always
    return Bounds(always.astype(float), ever.astype(float))


def stacked(parts: Sequence[Bounds], dim: int, shapes: Sequence[Sequence[int | None]]) -> Bounds:
    """Of the tensors of ``shapes`` one after the other along ``dim``."""
    total = sum(math.prod(size or 0 for size in shape) for shape in shapes)
    if total > LARGEST or any(None in shape for shape in shapes):
        found = parts[0].uniform
        for part in parts[1:]:
            found = found.joined(part.uniform)
        return found
    sizes = [[size or 0 for size in shape] for shape in shapes]
    return Bounds(
        *(
            np.concatenate(
                [np.broadcast_to(getattr(part, end), size) for part, size in zip(parts, sizes, strict=True)],
                axis=dim,
            )
            for end in ("low", "high")
        )
    )
