"""What this process does now, noted where a process that outlives it can read it.

Native code may crash, a pass of a user's may end the process without a word, and a phase of IREE's may never end. Whoever started the
process knows from the note what it was, and for how long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from fissile import wire

NOTE = "step"
"""The name of the file that the note is in."""


@dataclass(frozen=True)
class Step:
    """``what`` is a noun phrase: `phase flow`, `pass 'mine' (mine.py:11)`. ``users``: it is code of the user's own."""

    what: str
    users: bool = False


_FILE: ContextVar[Path | None] = ContextVar("file", default=None)
_STEP: ContextVar[Step | None] = ContextVar("step", default=None)


def note_in(folder: Path) -> None:
    """From now on what this process does is noted in ``folder``."""
    _FILE.set(folder / NOTE)


def noted(folder: Path) -> Step | None:
    """What a process that notes its steps in ``folder`` does now, or did when it ended; None: nothing that is noted."""
    try:
        return wire.decode(Step, (folder / NOTE).read_bytes())
    except (OSError, wire.WireError):  # none yet, or it is being written
        return None


def noted_at(folder: Path) -> int:
    """When the step that ``folder`` notes began: a number that changes with it; 0 without one."""
    try:
        found = (folder / NOTE).stat()
    except OSError:
        return 0
    return found.st_mtime_ns if found.st_size else 0


@contextmanager
def running(what: str, users: bool = False) -> Iterator[None]:
    """Notes the step until the end of the block; then the one around it."""
    if (known := _ACTIVITY.get()) is not None and known.dispatch:
        _act(dispatch="")  # it belongs to the step before
    token = _STEP.set(Step(what, users))
    _write()
    try:
        yield
    finally:
        _STEP.reset(token)
        _write()


def _write() -> None:
    file, step = _FILE.get(), _STEP.get()
    if file is not None:
        with suppress(OSError):  # a full disk: less is known of the process's end, and the work goes on
            file.write_bytes(wire.encode(step) if step else b"")


ACTIVITY = "activity"
"""The name of the file beside the note that says what is done within the step; nothing depends on it."""


@dataclass(frozen=True)
class Activity:
    """``dispatch``: which one code is generated for. ``trying``: what the repair loop tries."""

    dispatch: str = ""
    trying: str = ""


_ACTIVITY: ContextVar[Activity | None] = ContextVar("activity", default=None)


LINE = "line"
"""The name of the file beside the note that has the line of progress, for a parent that reports what was interrupted."""


def note_line(line: str) -> None:
    """``line`` is what a person who waits for this process sees."""
    file = _FILE.get()
    if file is not None:
        with suppress(OSError):
            (file.parent / LINE).write_text(line, encoding="utf-8")


def noted_line(folder: Path) -> str:
    """The last line of progress of a process that notes its steps in ``folder``; empty without one."""
    try:
        return (folder / LINE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def at_dispatch(number: int, of: int, name: str) -> None:
    """Code is generated for dispatch ``number`` of ``of`` now."""
    _act(dispatch=f"dispatch {number} of {of} ({name})")


def at_op(number: int, of: int, name: str) -> None:
    """Op ``number`` of ``of`` is compiled alone now."""
    _act(trying="", dispatch=f"compiling op {number} of {of} alone ({name})")


def at_whole_program() -> None:
    """The program is compiled as it is now."""
    _act(trying="", dispatch="compiling the whole program")


def trying(what: str) -> None:
    """The repair loop tries ``what`` now."""
    _act(trying=f"trying {what}", dispatch="")


def activity(folder: Path) -> Activity:
    """What a process that notes its steps in ``folder`` does within its step; empty where that is not known."""
    try:
        return wire.decode(Activity, (folder / ACTIVITY).read_bytes())
    except (OSError, wire.WireError):  # none yet, or it is being written
        return Activity()


def _act(**parts: str) -> None:
    file = _FILE.get()
    if file is None:
        return
    known = replace(_ACTIVITY.get() or Activity(), **parts)
    _ACTIVITY.set(known)
    with suppress(OSError):
        (file.parent / ACTIVITY).write_bytes(wire.encode(known))
