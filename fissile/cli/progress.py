"""Progress on standard error: a line that is redrawn on a terminal; elsewhere lines, with -v only. An interrupt names the last one."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from fissile.cli.fitted_text import columns_of
from fissile.passes.progress import note_line

QUIET_SECONDS = 1.0
"""A command that ends sooner shows nothing."""
_TICK_SECONDS = 0.25


class Progress:
    """The last line that was heard, and since when. ``stream`` is a terminal, or ``plain`` lines are printed to it.

    ``silent``: nothing is shown.
    """

    def __init__(self, stream: TextIO, plain: bool, silent: bool = False) -> None:
        self._stream, self._plain, self._silent = stream, plain, silent
        self._began = time.monotonic()
        self._line = ""
        self._status: Any = None

    def hear(self, line: str) -> None:
        """``line`` is what is done now."""
        from fissile.shown_text import shown

        line = shown(line)
        if line == self._line:
            return
        note_line(line)
        if self._plain and not self._silent:
            self._stream.write(f"fissile: {self._seconds()} s: {line}\n")
        self._line = line

    @property
    def last(self) -> str:
        return self._line

    def draw(self) -> None:
        """Shows the line with the seconds since the command began, on a terminal, once `QUIET_SECONDS` have passed."""
        if self._plain or self._silent or not self._line or time.monotonic() - self._began < QUIET_SECONDS:
            return
        from rich.markup import escape

        text = escape(one_line(self._line, f" ({self._seconds()} s)", columns_of(self._stream)))
        if self._status is None:
            from rich.console import Console

            self._status = Console(file=self._stream).status(text, refresh_per_second=4)
            self._status.start()
        else:
            self._status.update(text)

    def end(self) -> None:
        if self._status is not None:
            self._status.stop()

    def _seconds(self) -> int:
        return int(time.monotonic() - self._began)


def one_line(text: str, end: str, columns: int) -> str:
    """``text`` and ``end`` in one line beside the spinner: what is too long loses its middle, a dispatch's long name."""
    room = columns - 3 - len(end)
    if len(text) <= room:
        return text + end
    tail = min(20, room // 2)
    return f"{text[: room - tail - 1]}…{text[-tail:]}{end}"


@contextmanager
def progress_shown(doing: str, verbose: bool = False, quiet: bool = False) -> Iterator[None]:
    """Within the block, what children note is shown while a person waits. ``doing`` is what the block begins with."""
    from fissile.pipelines.status import listened

    on_terminal = sys.stderr.isatty() and not quiet
    progress = Progress(sys.stderr, plain=not on_terminal, silent=quiet or not (on_terminal or verbose))
    over = threading.Event()

    def redraw() -> None:
        while not over.wait(_TICK_SECONDS):
            progress.draw()

    thread = threading.Thread(target=redraw, daemon=True) if on_terminal else None
    try:
        with listened(progress.hear):
            progress.hear(doing)
            if thread is not None:
                thread.start()
            yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(progress.last)
        raise
    finally:
        over.set()
        if thread is not None and thread.ident is not None:
            thread.join()
        progress.end()
