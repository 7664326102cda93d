"""Byte counts that say how well they are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Certainty(Enum):
    """How well a byte count is known, from best to worst."""

    EXACT = "exact"
    PREDICTED = "predicted"
    AT_MOST = "at most"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """0 for the best known; a sum is as well known as its worst part."""
        return list(Certainty).index(self)


@dataclass(frozen=True)
class Bytes:
    """A number of bytes with its origin.

    ``value`` is None exactly when the certainty is unknown: an unknown size is not 0.
    Python integers do not wrap, so a count may exceed 2**64.
    """

    value: int | None
    certainty: Certainty = Certainty.EXACT
    origin: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != (self.certainty is Certainty.UNKNOWN):
            raise ValueError(f"a byte count is unknown exactly when it has no value: {self!r}")
        if self.value is not None and self.value < 0:
            raise ValueError(f"negative byte count {self.value}")

    @staticmethod
    def exact(value: int, origin: str = "") -> Bytes:
        return Bytes(value, Certainty.EXACT, origin)

    @staticmethod
    def predicted(value: int, origin: str = "") -> Bytes:
        return Bytes(value, Certainty.PREDICTED, origin)

    @staticmethod
    def unknown(origin: str = "") -> Bytes:
        return Bytes(None, Certainty.UNKNOWN, origin)

    def __add__(self, other: Bytes) -> Bytes:
        certainty = max(self.certainty, other.certainty, key=lambda c: c.rank)
        value = None if self.value is None or other.value is None else self.value + other.value
        return Bytes(value, certainty, self.origin or other.origin)

    def exceeds(self, limit: int) -> bool | None:
        """True or False where it is known, None where it is not."""
        if self.value is None:
            return None
        if self.certainty is Certainty.AT_MOST and self.value > limit:
            return None
        return self.value > limit

    @property
    def how_known(self) -> str:
        """In words, for a report: exact counts are read from IR after bufferization."""
        return (
            "exact, counted after bufferization"
            if self.certainty is Certainty.EXACT
            else self.certainty.value
        )

    def __str__(self) -> str:
        if self.value is None:
            return "unknown"
        return (
            str(self.value) if self.certainty is Certainty.EXACT else f"{self.value} ({self.certainty.value})"
        )


def total(parts: Iterable[Bytes], origin: str = "") -> Bytes:
    """The sum of ``parts``; the empty sum is exactly 0 bytes."""
    value, certainty = 0, Certainty.EXACT
    for part in parts:
        if part.certainty is not certainty and part.certainty.rank > certainty.rank:
            certainty = part.certainty
        value += part.value or 0
        origin = origin or part.origin
    return Bytes(None if certainty is Certainty.UNKNOWN else value, certainty, origin)


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple
