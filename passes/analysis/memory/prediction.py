"""A predicted footprint: which buffers code generation will make, without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fissile.finding import Place
from fissile.quantity import Bytes, Certainty, round_up, total

from .size import Size, largest_that_fits
from .tiles import Dim, describe


@dataclass(frozen=True)
class PredictedBuffer:
    """One buffer: its extents, element and why it is there. ``scales`` says that a smaller tile makes it
    smaller.

    ``size`` is in bytes, before rounding up to ``alignment`` bytes.
    """

    shape: tuple[Dim | Size, ...]
    element: str
    size: Size
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
        if self.size.static is None:
            return Bytes.unknown(str(self.size))
        return Bytes.predicted(round_up(self.size.static, self.alignment))


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
        return tuple(sorted({dim for buffer in self.buffers for dim in buffer.size.dimensions}))

    @property
    def formula(self) -> Size:
        """The sum in bytes, before the buffers are rounded up to their alignment."""
        result = Size.of(0)
        for buffer in self.buffers:
            result = result + buffer.size
        return result

    def at(self, values: Mapping[str, int]) -> int:
        """Bytes for given dimensions, rounded as IREE rounds."""
        return sum(round_up(buffer.size.at(values), buffer.alignment) for buffer in self.buffers)

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
