"""What generated code shows of a failure, as plain values that a probe can send."""

from __future__ import annotations

from dataclasses import dataclass

from ..memory.footprint import Allocation


@dataclass(frozen=True)
class Evidence:
    """``buffers`` or element ``types`` that it concerns, how much of it there is (``count``), and further ``traits`` in words."""

    buffers: tuple[Allocation, ...] = ()
    types: tuple[str, ...] = ()
    count: int = 0
    traits: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.buffers or self.types or self.count or self.traits)
