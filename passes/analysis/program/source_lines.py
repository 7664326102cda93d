"""Which line of the input an op was parsed from. A location may name any file; no other file than an input is opened."""

from __future__ import annotations

import linecache
import stat
from pathlib import Path

from fissile.finding import Place

MOST_BYTES = 64 << 20
"""Of an input that is read once more for its lines."""

_inputs: set[str] = set()
"""What this process has parsed, as locations name it."""


def may_be_quoted(file: str) -> None:
    """``file`` is an input, under the name that its locations have; an earlier one of that name had other lines."""
    _inputs.add(file)
    linecache.cache.pop(file, None)


def line_at(place: Place | None) -> str:
    """The line of the input at ``place``; empty where that is in another file, or in none that can be read."""
    if place is None or place.file not in _inputs:
        return ""
    try:
        found = Path(place.file).stat()
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        return ""
    return linecache.getline(place.file, place.line)
