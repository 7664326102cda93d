"""A user's own Python files: what they do is reported with their file and line, and what ends the process is known by them.

A pass may end the process without a word (`os._exit`, an abort in native code). So what of the user's runs now stands in a file,
where a process that outlives this one reads it.
"""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

MODULE_PREFIX = "fissile_user_passes_"
"""What the modules of users' files are called in `sys.modules`."""
NOTE_NAME = "in_user_code"
"""The name of the file that says what of the user's runs now; empty: nothing does."""

_NOTE: ContextVar[Path | None] = ContextVar("note", default=None)


def note_in(folder: Path) -> None:
    """From now on what of the user's runs stands in ``folder``."""
    _NOTE.set(folder / NOTE_NAME)


def noted(folder: Path) -> str:
    """What of the user's ran when the process that notes it in ``folder`` ended; empty where it was nothing."""
    try:
        return (folder / NOTE_NAME).read_text(errors="replace")
    except OSError:
        return ""


@contextmanager
def running(what: str) -> Iterator[None]:
    """Notes ``what`` until the end of the block."""
    note = _NOTE.get()
    _write(note, what)
    try:
        yield
    finally:
        _write(note, "")


def is_users(cls: type) -> bool:
    """Whether a pass comes from a user's file."""
    return cls.__module__.startswith(MODULE_PREFIX)


def pass_named(cls: type) -> str:
    """``pass 'mine' (mine.py:11)``: where its `run` is defined; a built-in pass by its name alone."""
    if not is_users(cls):
        return f"pass '{cls.name}'"
    try:
        file, line = inspect.getsourcefile(cls.run), cls.run.__code__.co_firstlineno
    except (TypeError, AttributeError):  # defined by no `def`
        return f"pass '{cls.name}'"
    return f"pass '{cls.name}' ({as_typed(file)}:{line})"


def cause(error: BaseException, file: str | None) -> str:
    """The error in one line; with the innermost line of ``file`` that it came through."""
    said = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {said}".rstrip(": ")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{text} ({as_typed(file)}:{lines[-1]})" if lines else text


def as_typed(file: str | os.PathLike) -> str:
    """``file`` as seen from the working directory, where that is shorter."""
    with suppress(OSError, ValueError):
        return min(os.path.relpath(file), str(file), key=len)
    return str(file)


def _write(note: Path | None, what: str) -> None:
    if note is not None:
        with suppress(OSError):  # a full disk: the process's end says less, and the work goes on
            note.write_text(what)
