"""Which of the edited programs is the fastest? The ones at hand, then those together that were faster one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..repair.edits import Edit
from .timing import Timed

FASTER = 0.97
"""A candidate has to take at most this share of the first one's time to be put together with others: less is noise."""
MODELS_CHOICE = "the model's choice"
TOGETHER = "the faster ones together"

Build = Callable[[Sequence["Candidate"]], list[tuple[str, Path]]]
"""Compiled candidates, by name; one that does not compile is left out."""
Time = Callable[[Sequence[tuple[str, Path]]], list[Timed]]
"""The fastest first; those that did not run last."""


@dataclass(frozen=True)
class Candidate:
    """An edited program. ``changed``: the edits in which it differs from the model's choice, where it differs in one place only.

    ``spec``: the tuning spec that it is compiled with; empty: none.
    """

    name: str
    edits: tuple[Edit, ...]
    changed: tuple[Edit, ...] = ()
    spec: str = ""


def search(
    candidates: Sequence[Candidate], build: Build, time: Time, passes: Callable[[tuple[Edit, ...]], bool]
) -> tuple[list[Timed], dict[str, tuple[Edit, ...]]]:
    """Times ``candidates``, the model's choice first; returns all timings, the fastest first, and each name's edits.

    A change in one place is timed by itself; where several are faster, all of them together are timed against the best so far.
    ``passes`` says whether a program with such edits compiles.
    """
    known = {candidate.name: candidate.edits for candidate in candidates}
    built = build(candidates)
    timed = time(built)
    together = _together(candidates, timed)
    if together is None or together.edits in known.values() or not passes(together.edits):
        return timed, known
    rest = build([together])
    if not rest:
        return timed, known
    # The best so far is timed once more beside it: the machine's load has changed since.
    best = next(program for program in built if program[0] == timed[0].name)
    last = time([best, *rest])
    known[together.name] = together.edits
    again = {row.name: row for row in last}
    rows = [again.get(row.name, row) for row in timed] + [again[together.name]]
    rows.sort(key=lambda row: (row.seconds is None, row.seconds or 0.0))
    if last[0].seconds is not None:  # what was timed side by side decides
        rows.sort(key=lambda row: row.name != last[0].name)
    return rows, known


def _together(candidates: Sequence[Candidate], timed: Sequence[Timed]) -> Candidate | None:
    seconds = {row.name: row.seconds for row in timed if row.seconds is not None}
    base = candidates[0]
    if base.name not in seconds:
        return None
    faster = [
        candidate
        for candidate in candidates
        if candidate.changed and seconds.get(candidate.name, float("inf")) <= FASTER * seconds[base.name]
    ]
    if len(faster) < 2:
        return None
    changed = {edit for candidate in faster for edit in candidate.changed}
    return Candidate(TOGETHER, tuple(sorted(set(base.edits) ^ changed)))
