"""Rows that were measured already: an interrupted table goes on, and another part of it can be measured another day."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from fissile.passes.iree.version import installed
from fissile.pipelines.sweep.sources import digest_of_sources


@dataclass(frozen=True)
class Row:
    """``part`` is the table that it stands in. Ratios: ``processor`` and ``wall`` time, ``memory``; None where ``note`` says why.

    ``goal``: the most that ``processor`` is to be; 0: none.
    """

    part: str
    what: str
    program: str
    target: str
    processor: float | None
    wall: float | None
    memory: float | None = None
    rounds: int = 1
    goal: float = 0.0
    note: str = ""
    noise: float = 1.0
    """How much the same program differed from itself in the same rounds; at least 1."""


@dataclass(frozen=True)
class Unit:
    """What is measured together. ``name`` is known before it is."""

    name: str
    measure: Callable[[], Iterable[Row]]


class Kept:
    """A file of lines, one a unit, for these sources of fissile and this IREE: other lines count as not measured.

    No unit begins after ``seconds``; None: no limit.
    """

    def __init__(self, path: Path, seconds: float | None = None) -> None:
        self._path = path
        self._until = None if seconds is None else time.monotonic() + seconds
        self._version = f"{digest_of_sources()} {installed()}"
        self._rows: dict[str, list[Row]] = {}
        self.failed: dict[str, str] = {}
        """The units that could not be measured, and why: the next run tries them again."""
        self.left: list[str] = []
        """The units for which no time was left: the next run measures them."""
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if entry["version"] == self._version:
                    self._rows[entry["unit"]] = [Row(**row) for row in entry["rows"]]

    def rows(self, units: Iterable[Unit], measures: bool = True) -> Iterator[tuple[Row, bool]]:
        """Each row of ``units``, and whether it was measured before. A unit is written as soon as it is measured.

        ``measures`` is false: only those that were.
        """
        for unit in units:
            was_there = unit.name in self._rows
            if not was_there and not measures:
                continue
            if not was_there and self._until is not None and time.monotonic() >= self._until:
                self.left.append(unit.name)
                continue
            if not was_there:
                try:
                    self._rows[unit.name] = list(unit.measure())
                except Exception as error:  # the other units are measured nevertheless
                    self.failed[unit.name] = f"{type(error).__name__}: {error}"
                    continue
                line = {"version": self._version, "unit": unit.name}
                line["rows"] = [asdict(row) for row in self._rows[unit.name]]
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as kept:
                    kept.write(json.dumps(line) + "\n")
            for row in self._rows[unit.name]:
                yield row, was_there
