"""Which line of the input an op was parsed from. A location may name any file; no other file than an input is opened."""

from __future__ import annotations

import linecache
import stat
from collections.abc import Sequence
from pathlib import Path

from fissile.finding import Place

MOST_BYTES = 64 << 20
"""Of an input that is read once more for its lines."""

_inputs: dict[str, str | tuple[str, ...]] = {}
"""What this process has parsed, as locations name it: the file that has its text, or its lines."""


def may_be_quoted(name: str, file: str | None = None) -> None:
    """``name``, as locations have it, is an input that stands in ``file`` (None: it is the file's own name); an earlier one of that
    name had other lines."""
    _inputs[name] = name if file is None else file
    linecache.cache.pop(name if file is None else file, None)


def text_may_be_quoted(name: str, text: str) -> None:
    """``text`` is an input from no file, under the name that its locations have."""
    _inputs[name] = tuple(text.splitlines(keepends=True)) if len(text) <= MOST_BYTES else ()


def line_at(place: Place | None) -> str:
    """The line of the input at ``place``; empty where that is in another file, or in none that can be read."""
    lines = _lines(place)
    return lines[place.line - 1] if place is not None and 0 < place.line <= len(lines) else ""


def text_before(place: Place | None) -> str:
    """The text of the input up to ``place``; empty where `line_at` is."""
    if place is None or not (line := line_at(place)):
        return ""
    return "".join((*_lines(place)[: place.line - 1], line[: max(0, place.column - 1)]))


def _lines(place: Place | None) -> Sequence[str]:
    if place is None or (held := _inputs.get(place.file)) is None:
        return ()
    if isinstance(held, tuple):
        return held
    try:
        found = Path(held).stat()
    except (OSError, ValueError):
        return ()
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        return ()
    return linecache.getlines(held)
