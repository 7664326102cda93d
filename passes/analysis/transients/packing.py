"""Where in one slab does each slice stand, so that the slab is small and no two that live at once overlap?

A slice lives from its first to its last step, both included. The least size of a slab is at least the peak of live bytes; to find
the least size in general is hard (it is dynamic storage allocation), so several orders are tried and the smallest slab is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

ROUNDS = 200
"""How often the slices at the top of the best slab are placed earlier."""
MOST_WORK = 4_000_000
"""Pairs of slices that are compared at most: the time of the search, whatever the number of slices."""


@dataclass(frozen=True)
class Slice:
    """``size`` bytes, a multiple of the alignment, that live in steps ``first`` to ``last``."""

    first: int
    last: int
    size: int

    def meets(self, other: Slice) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Layout:
    """The offset of each slice in bytes, and the ``size`` of the slab."""

    offsets: tuple[int, ...]
    size: int


def aligned(size: int, alignment: int) -> int:
    """``size`` rounded up to a multiple of ``alignment``."""
    return -(-size // alignment) * alignment


def least_size(slices: Iterable[Slice]) -> int:
    """The peak of live bytes: no slab is smaller."""
    changes: dict[int, int] = {}
    for one in slices:
        changes[one.first] = changes.get(one.first, 0) + one.size
        changes[one.last + 1] = changes.get(one.last + 1, 0) - one.size
    peak = live = 0
    for step in sorted(changes):
        live += changes[step]
        peak = max(peak, live)
    return peak


def overlapping(slices: Sequence[Slice], offsets: Sequence[int]) -> tuple[int, int] | None:
    """Two slices that live at once and share bytes; None where there are none."""
    for i, one in enumerate(slices):
        for j in range(i):
            other = slices[j]
            if (
                one.meets(other)
                and offsets[i] < offsets[j] + other.size
                and offsets[j] < offsets[i] + one.size
            ):
                return j, i
    return None


def pack(slices: Sequence[Slice]) -> Layout:
    """The smallest layout found. The same for the same slices, whatever the machine."""
    if not slices:
        return Layout((), 0)
    bound = least_size(slices)
    neighbours = [
        [j for j, other in enumerate(slices) if j != i and one.meets(other)] for i, one in enumerate(slices)
    ]
    best: Layout | None = None
    best_order: tuple[int, ...] = ()
    for order in _orders(slices):
        for fit in (_lowest, _tightest):
            layout = _placed(slices, order, neighbours, fit)
            if best is None or layout.size < best.size:
                best, best_order = layout, order
            if best.size == bound:
                return best
    assert best is not None
    pairs = sum(map(len, neighbours)) + len(slices)
    for _ in range(min(ROUNDS, MOST_WORK // pairs)):
        top = [i for i in best_order if best.offsets[i] + slices[i].size == best.size]
        moved = _raised(best_order, top)
        layout = _placed(slices, moved, neighbours, _lowest)
        if moved == best_order or layout.size > best.size:
            break
        best, best_order = layout, moved
        if best.size == bound:
            break
    return best


def _orders(slices: Sequence[Slice]) -> list[tuple[int, ...]]:
    """Orders in which to place the slices: the large first, the long-lived first, both, and as the program makes them."""
    keys: tuple[Callable[[Slice], tuple[int, ...]], ...] = (
        lambda s: (-s.size, s.first),
        lambda s: (-(s.last - s.first), -s.size),
        lambda s: (-(s.last - s.first + 1) * s.size,),
        lambda s: (s.first, -s.size),
        lambda s: (s.first, -s.last),
        lambda s: (-s.last, -s.size),
    )
    busiest = _busiest_step(slices)

    def through(one: Slice) -> tuple[int, ...]:
        return (not one.first <= busiest <= one.last, -one.size, one.first)

    orders = []
    for key in (*keys, through):
        ranks = [(key(one), i) for i, one in enumerate(slices)]
        orders.append(tuple(i for _, i in sorted(ranks)))
    return orders


def _busiest_step(slices: Sequence[Slice]) -> int:
    return max(
        (one.first for one in slices),
        key=lambda step: (sum(s.size for s in slices if s.first <= step <= s.last), -step),
    )


_Gap = tuple[int, int | None]
"""Where free bytes begin, and how many there are; None: up to the end of the slab, however large it becomes."""


def _lowest(gaps: Sequence[_Gap]) -> int:
    return gaps[0][0]


def _tightest(gaps: Sequence[_Gap]) -> int:
    closed = [gap for gap in gaps if gap[1] is not None]
    return min(closed, key=lambda gap: (gap[1], gap[0]))[0] if closed else gaps[0][0]


def _placed(
    slices: Sequence[Slice],
    order: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    fit: Callable[[Sequence[_Gap]], int],
) -> Layout:
    """Each slice in its turn into the gap that ``fit`` chooses between those that live at the same time."""
    offsets = [-1] * len(slices)
    for i in order:
        taken = sorted((offsets[j], offsets[j] + slices[j].size) for j in neighbours[i] if offsets[j] >= 0)
        offsets[i] = fit(_gaps(taken, slices[i].size))
    return Layout(tuple(offsets), max(o + s.size for o, s in zip(offsets, slices, strict=True)))


def _gaps(taken: Iterable[tuple[int, int]], size: int) -> list[_Gap]:
    """The free ranges of at least ``size`` bytes, lowest first; the last one has no end."""
    free, gaps = 0, []
    for begin, end in taken:
        if begin - free >= size:
            gaps.append((free, begin - free))
        free = max(free, end)
    return [*gaps, (free, None)]


def _raised(order: Sequence[int], top: Sequence[int]) -> tuple[int, ...]:
    """``order`` with ``top`` first."""
    return (*top, *(i for i in order if i not in top))
