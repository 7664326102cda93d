"""The lines of the input, and of no other file: a program says where its ops come from, and may say anything."""

from __future__ import annotations

import os
import stat
from functools import cached_property

MOST_BYTES = 64 << 20
"""Of an input whose source lines are quoted; a larger one is reported without them."""


class SourceLines:
    """The lines of one input file, and of no other: a location may name a private file, a pipe or a device.

    ``text`` is what stands in it, where it is no file.
    """

    def __init__(self, file: str = "", text: bytes | None = None) -> None:
        self._file = file
        self._text = text

    def line(self, file: str, number: int) -> str:
        """Line ``number`` (1-based) of ``file``; empty where that is not the input, or has no such line."""
        if not self._file or file != self._file or not 1 <= number <= len(self._lines):
            return ""
        return self._lines[number - 1].decode(errors="replace")

    @cached_property
    def _lines(self) -> list[bytes]:
        if self._text is not None:
            return self._text.split(b"\n")
        try:
            found = os.stat(self._file)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
                return []
            with open(self._file, "rb") as opened:
                content = opened.read(MOST_BYTES)
            return [] if b"\0" in content else content.split(b"\n")  # a model, or bytecode, has no lines
        except OSError:
            return []


def lines_of(source: str | SourceLines) -> SourceLines:
    """The lines of the file ``source``, or ``source`` itself."""
    return SourceLines(source) if isinstance(source, str) else source
