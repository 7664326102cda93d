"""Buffers of the interpreter, their views, and how many bytes of them live at each moment of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


class Misuse(Exception):
    """Memory was used after its release, or released twice, or is not allocated memory."""


class NotRun(Exception):
    """An op that this interpreter does not know, or a program that does not end."""


@dataclass(eq=False)
class Buffer:
    """``cells`` hold one element each; ``bytes`` is what it takes."""

    cells: list
    bytes: int
    made: int
    owned: bool
    alive: bool = True
    last: int = 0


@dataclass(frozen=True)
class View:
    buffer: Buffer
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, index: Sequence[int]) -> int:
        for i, size in zip(index, self.sizes, strict=False):
            if not 0 <= i < size:
                raise NotRun(f"index {i} of {size}")
        return self.offset + sum(i * s for i, s in zip(index, self.strides, strict=False))

    def cells(self) -> list[int]:
        found = [self.offset]
        for size, stride in zip(self.sizes, self.strides, strict=False):
            found = [at + i * stride for at in found for i in range(size)]
        return found


@dataclass
class Run:
    """What a call returned and what it did to memory. ``events``: (time, buffer, "alloc" | "free")."""

    results: list = field(default_factory=list)
    leaked: list[Buffer] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    freed: dict[int, int] = field(default_factory=dict)

    @property
    def peak(self) -> int:
        return self._peak(lambda b: self.freed.get(id(b), 10**9))

    @property
    def least_peak(self) -> int:
        """With every buffer alive from its allocation to its last access only."""
        return self._peak(lambda b: b.last)

    def _peak(self, end: Callable[[Buffer], int]) -> int:
        # A release takes effect behind the op at its time: the op itself still needs the memory.
        changes = [(b.made, 1, b.bytes) for b in self.buffers if b.owned]
        changes += [(end(b), 2, -b.bytes) for b in self.buffers if b.owned]
        live = most = 0
        for _, _, change in sorted(changes):
            live += change
            most = max(most, live)
        return most
