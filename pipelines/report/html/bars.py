"""Bytes of dispatches as bars: a segment for each tensor, against the limit; and live bytes over program time as a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_SEGMENTS = 8
COLOURS = 6
FIRST_SHOWN = 30
"""Dispatches that are listed at once; the others are folded away."""


@dataclass(frozen=True)
class Segment:
    label: str
    bytes: int
    percent: float
    colour: int


@dataclass(frozen=True)
class Bar:
    """``limit`` is where its mark stands, in percent of the width; ``fits`` None where the size is not known."""

    name: str
    place: str
    bytes: int | None
    known: str
    segments: tuple[Segment, ...]
    limit: float
    fits: bool | None
    formula: str = ""


def bar(
    name: str,
    place: str,
    rows: Sequence[tuple[str, int | None]],
    count: int | None,
    limit: int,
    known: str,
    scale: int,
    fits: bool | None = None,
    formula: str = "",
) -> Bar:
    """The bar of one dispatch. ``rows`` are (tensor, bytes); ``scale`` is how many bytes the whole width has."""
    known_rows = [(label, size) for label, size in rows if size]
    largest = sorted(known_rows, key=lambda row: -row[1])
    head, rest = largest[: MOST_SEGMENTS - 1], largest[MOST_SEGMENTS - 1 :]
    if rest:
        head.append((f"{len(rest)} more", sum(size for _label, size in rest)))
    segments = tuple(
        Segment(label, size, 100 * size / scale, number % COLOURS)
        for number, (label, size) in enumerate(head)
    )
    return Bar(name, place, count, known, segments, 100 * limit / scale, fits, formula)


def target_bars(target: Mapping) -> list[Bar]:
    """The dispatches of one target of a check, the largest first; those of unknown size before all."""
    limit = target["limit"]
    rows = sorted(
        target["dispatches"], key=lambda row: -(row["bytes"] if row["bytes"] is not None else 1 << 62)
    )
    scale = max([limit, *(row["bytes"] or 0 for row in rows)]) * 1.02
    return [
        bar(
            row["name"],
            row["place"],
            [(buffer["value"], buffer["bytes"]) for buffer in row["buffers"]],
            row["bytes"],
            limit,
            row["certainty"],
            scale,
            row["fits"],
            row["formula"] or "",
        )
        for row in rows
    ]


def ledger_bars(finding: Mapping) -> list[Bar]:
    """Before and after of a finding with a ledger; after only where a repair reports its bytes."""
    ledger, limit = finding["ledger"], finding["limit"]
    if not ledger or not limit or ledger["total"]["value"] is None:
        return []
    before = ledger["total"]["value"]
    scale = max(before, limit["bytes"]) * 1.02
    rows = [(line["value"], line["bytes"]["value"]) for line in ledger["lines"]]
    after = next(
        (_bytes(text) for help_ in finding["helps"] for name, text in help_["facts"] if name == "after"), None
    )
    bars = [
        bar(
            "before" if after is not None else "needs",
            "",
            rows,
            before,
            limit["bytes"],
            ledger["total"]["certainty"],
            scale,
            before <= limit["bytes"],
        )
    ]
    if after is not None:
        fits = after <= limit["bytes"]
        bars.append(bar("after", "", [("all buffers", after)], after, limit["bytes"], "", scale, fits))
    return bars


def _bytes(text: str) -> int | None:
    found = re.match(r"(\d+) bytes", text)
    return int(found[1]) if found else None


@dataclass(frozen=True)
class Timeline:
    """Live bytes over program time: ``live`` and ``needed`` are the points of two step lines in a box of WIDTH by HEIGHT."""

    function: str
    peak: int | None
    bound: int | None
    at: str
    complete: bool
    live: str
    needed: str
    peak_x: float
    alive: tuple[Mapping, ...]
    steps: int


WIDTH, HEIGHT = 760, 150


def timeline(function: Mapping) -> Timeline:
    moments = function["over_time"]
    top = max([1, *(one["live"] or 0 for one in moments), *(one["needed"] or 0 for one in moments)])
    live = [one["live"] or 0 for one in moments]
    highest = live.index(max(live)) if live else 0
    step = WIDTH / max(1, len(moments))
    return Timeline(
        function["function"],
        function["peak"],
        function["bound"],
        function["at"],
        function["complete"],
        _steps(live, step, top),
        _steps([one["needed"] or 0 for one in moments], step, top),
        (highest + 0.5) * step,
        tuple(function["alive"]),
        len(moments),
    )


def _steps(values: Sequence[int], step: float, top: int) -> str:
    """The corners of a step line, from and back to the ground."""
    points = [(0.0, float(HEIGHT))]
    for number, value in enumerate(values):
        y = HEIGHT - HEIGHT * value / top
        points += [(number * step, y), ((number + 1) * step, y)]
    points.append((len(values) * step, float(HEIGHT)))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
