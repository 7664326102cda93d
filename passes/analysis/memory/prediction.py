"""A predicted footprint: which buffers code generation will make, without running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fissile.finding import Place
from fissile.quantity import Bytes, Certainty, round_up, total

from ..bounds.size_terms import ZERO, Term, evaluate, ident_of, symbols_of
from .tiles import Extent, describe


@dataclass(frozen=True)
class PredictedBuffer:
    """One buffer: its extents, element and why it is there. ``scales`` says that a smaller tile makes it
    smaller.

    ``size`` is in bytes, before rounding up to ``alignment`` bytes.
    """

    shape: tuple[Extent, ...]
    element: str
    size: Term
    reason: str
    scales: bool
    alignment: int = 1
    tags: tuple[int, ...] = ()
    place: Place | None = None

    @property
    def type(self) -> str:
        return describe(self.shape, self.element)

    @property
    def bytes(self) -> Bytes:
        """Predicted where static, unknown where a dimension is dynamic: never 0."""
        if self.size.constant is None:
            return Bytes.unknown(str(self.size))
        return Bytes.predicted(round_up(self.size.constant, self.alignment))


@dataclass(frozen=True)
class Prediction:
    """All predicted buffers of a dispatch. ``doubts`` say why the model may be wrong; then only a probe
    decides."""

    buffers: tuple[PredictedBuffer, ...]
    doubts: tuple[str, ...] = ()
    bounds: Mapping[str, int] = field(default_factory=dict)
    """The largest value of a dynamic dimension, where the program states one."""
    at_most: bool = False
    """The buffers are bounds: the dispatch may need less."""

    @property
    def total(self) -> Bytes:
        """The sum: predicted; at most, where it is a bound or dimensions have one; unknown where one has
        none."""
        result = total(buffer.bytes for buffer in self.buffers)
        if result.value is not None:
            return Bytes(result.value, Certainty.AT_MOST if self.at_most else Certainty.PREDICTED)
        if set(self.dimensions) <= set(self.bounds):
            return Bytes(self.at(self.bounds), Certainty.AT_MOST, str(self.formula))
        return Bytes.unknown(str(self.formula))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dynamic dimensions that the size depends on."""
        return tuple(sorted({name for buffer in self.buffers for name in dimensions_of(buffer.size)}))

    @property
    def formula(self) -> Term:
        """The sum in bytes, before the buffers are rounded up to their alignment."""
        result = ZERO
        for buffer in self.buffers:
            result = result + buffer.size
        return result

    def at(self, values: Mapping[str, int]) -> int:
        """Bytes for given dimensions, rounded as IREE rounds."""
        return sum(round_up(size_at(buffer.size, values), buffer.alignment) for buffer in self.buffers)

    def largest(self, limit: int) -> dict[str, int | None]:
        """For each dynamic dimension the largest value that fits while the others are 1.

        None: it does not fit even so. -1: it fits whatever the value.
        """
        ones = dict.fromkeys(self.dimensions, 1)
        return {dim: largest_that_fits(self.at, dim, limit, ones) for dim in self.dimensions}

    @property
    def floor(self) -> int:
        """What no tile makes smaller: bytes of the static buffers that do not scale with the tile."""
        return sum(b.bytes.value or 0 for b in self.buffers if not b.scales)


def dimensions_of(size: Term) -> tuple[str, ...]:
    """Names of the dynamic dimensions that ``size`` depends on."""
    return tuple(sorted(symbol.text for symbol in symbols_of(size).values()))


def size_at(size: Term, values: Mapping[str, int]) -> int:
    """The number for given dimensions; raises KeyError where one is missing."""
    return evaluate(size, {ident_of(name): value for name, value in values.items()})


def largest_that_fits(
    total: Callable[[Mapping[str, int]], int], dimension: str, limit: int, others: Mapping[str, int]
) -> int | None:
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
