"""Lines that are longer than the terminal is wide, broken where a person can still read them."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TextIO

LEAST = 40
"""Columns below which lines are broken as for this many."""
_CELL = re.compile(r"(?<=\S)\s{2,}(?=\S)|(?<=\s)= \w+\s+(?=\S)")
_GUTTER = re.compile(r"^\s+\|(?=\s)")
_MARK = re.compile(r"^\s+\|\s+[\^-]+ ")


def fitted(text: str, columns: int) -> str:
    """``text`` in lines of at most ``columns``, where its words allow that.

    What is broken goes on under the last cell of its row (two blanks end a cell), behind the `|` of quoted source, or else a
    little to the right of the line's begin. A word is never broken.
    """
    width = max(columns, LEAST)
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    begin = len(line) - len(line.lstrip())
    if " " not in line.lstrip():
        return [" " * max(0, width - len(line) + begin) + line.lstrip()]
    gutter = _GUTTER.match(line)
    prefix = gutter.group() if gutter else ""
    hang = _under(line, begin, width, gutter is not None)
    parts, rest, head = [], line, begin
    while len(rest) > width:
        # A blank in the indentation is no place to break at, nor one inside the cells before the last one.
        end = rest.rfind(" ", head + 1, width + 1)
        if end <= head:
            end = rest.find(" ", width)
            if end < 0:
                break
        parts.append(rest[:end].rstrip())
        word = rest[end:].lstrip()
        longest = len(word.split(" ", 1)[0])
        indent = hang if hang + longest <= width else max(len(prefix) + 1, min(hang, begin + 4))
        rest, head = prefix + " " * (indent - len(prefix)) + word, indent
    return [*parts, rest]


def _under(line: str, begin: int, width: int, gutter: bool) -> int:
    """The column in which a broken ``line`` goes on."""
    starts = [found.end() for found in _CELL.finditer(line)]
    if mark := _MARK.match(line):
        starts = [mark.end()]
    able = [start for start in starts if start <= width * 6 // 10]
    return able[-1] if able else begin + (4 if not gutter else 7)


def columns_of(stream: TextIO) -> int:
    """How wide the terminal is that ``stream`` is; 0 where it is none."""
    return shutil.get_terminal_size((100, 24)).columns if stream.isatty() else 0


def print_fitted(text: str) -> None:
    """Prints ``text``, which ends its own last line, in the terminal's width; as it is where there is none."""
    columns = columns_of(sys.stdout)
    sys.stdout.write(fitted(text, columns) if columns else text)
