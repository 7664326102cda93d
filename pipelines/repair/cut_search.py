"""Which producers to cut off a dispatch, in the order in which sets of them are tried. Pure: no IREE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

MAX_SET_SIZE = 4
MAX_TRIALS = 24
"""Per dispatch: beyond this many sets the dispatch is reported as not repairable by boundaries."""


@dataclass(frozen=True)
class Candidate:
    """A source op whose result may be cut off. ``crossing`` bytes would go through global memory.

    ``blamed`` bytes of on-chip memory belong to it; ``racing``: a buffer of it is shared with no barrier;
    ``upstream``: it feeds the dispatch's root (else it is the root or follows it).
    """

    tag: int
    blamed: int
    crossing: int
    racing: bool
    upstream: bool


def trial_sets(
    candidates: Sequence[Candidate], excess: int, largest_first: bool = False
) -> Iterator[tuple[int, ...]]:
    """Sets of tags to cut, most promising first, each once, at most MAX_TRIALS.

    A set is promising when the bytes that it is blamed for reach ``excess`` (bytes over the limit; what remains
    is only an estimate, since IREE chooses tiles anew) and it holds every racing op. Promising sets come by size, then
    by bytes through global memory; the others follow the same way, ops upstream of the root first.
    ``largest_first`` begins with the set of all, for failures that cost a whole time limit to see again; else all
    upstream ops and all ops come last, however many sets there are.
    """
    racing = {c.tag for c in candidates if c.racing}
    ordered = sorted(candidates, key=lambda c: (not c.upstream, c.crossing, c.tag))

    def rank(chosen: tuple[Candidate, ...]) -> tuple:
        tags = {c.tag for c in chosen}
        promising = sum(c.blamed for c in chosen) >= excess and racing <= tags
        return (
            not promising,
            -len(chosen) if largest_first else len(chosen),
            sum(not c.upstream for c in chosen),
            sum(c.crossing for c in chosen),
            tuple(sorted(tags)),
        )

    pool = ordered[:10]
    sets = [
        chosen for size in range(1, min(MAX_SET_SIZE, len(pool)) + 1) for chosen in combinations(pool, size)
    ]
    most = [tuple(c for c in ordered if c.upstream), tuple(ordered)] if len(ordered) > MAX_SET_SIZE else []
    ranked = sorted([*sets, *most] if largest_first else sets, key=rank)
    last = [] if largest_first else most
    chosen = [*ranked[: MAX_TRIALS - len(last)], *last]
    yield from dict.fromkeys(tuple(sorted(c.tag for c in one)) for one in chosen if one)


def translate(tags: Sequence[int], representative: Sequence[int], member: Sequence[int]) -> tuple[int, ...]:
    """The ops of ``member`` that stand where ``tags`` stand in ``representative`` (bodies are equal)."""
    position: Mapping[int, int] = {tag: i for i, tag in enumerate(representative)}
    return tuple(member[position[tag]] for tag in tags if tag in position and position[tag] < len(member))
