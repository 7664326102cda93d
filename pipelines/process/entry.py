"""What a child process of fissile does first: it arranges to end with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

from fissile import wire
from fissile.errors import ExitCode, FissileError, refused_by_system

from .child import PARENT_VARIABLE
from .job import WorkerError
from .scratch import become_child

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


REFUSED = 128
"""A child that the system refuses to write its answer ends with this and the number of the error: no space is needed for that."""


def leave_answer(file: Path, answer: object) -> None:
    """Writes ``answer`` to ``file``, whole or not at all; ends the process where it cannot."""
    partial = file.with_suffix(".partial")
    try:
        partial.write_bytes(wire.encode(answer))
        partial.rename(file)
    except OSError as error:
        os._exit(REFUSED + (error.errno or 0))


def error_in_words(error: BaseException) -> WorkerError:
    """``error``, which ended a worker's job, as it answers it."""
    if not isinstance(error, FissileError):
        error = refused_by_system(error) or error
    if isinstance(error, FissileError):
        again = getattr(error, "reproducer", "")
        excerpt = getattr(error, "excerpt", "")
        return WorkerError(error.message, error.hint, int(error.exit_code), again, excerpt=excerpt)
    return WorkerError(
        f"{type(error).__name__}: {error}",
        exit_code=int(ExitCode.INTERNAL),
        traceback="".join(traceback.format_exception(error)),
    )


def begin() -> None:
    """Called first thing in a module that `Child` runs. The parent-death signal is set before anything else is loaded.

    A SIGINT to the child alone ends it as any signal does; it is no exception of what runs there.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = os.environ.get(PARENT_VARIABLE)
    if parent:
        _end_with(int(parent))
    _become_child()


def begin_forked(parent: int) -> None:
    """The same in a fork, which also has its parent's signal handlers."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _end_with(parent)
    _become_child()


def _become_child() -> None:
    tempfile.tempdir = None  # what a fork has of its parent
    become_child()


def _end_with(parent: int) -> None:
    """The kernel kills this process when the thread that started it ends (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)
