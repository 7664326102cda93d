"""What a user can cause, as exceptions with a way out, and the exit codes of every fissile program."""

from __future__ import annotations

import errno
import os
import re
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report


class ExitCode(IntEnum):
    """Exit codes of `fissile` and `fissile-opt`."""

    CLEAN = 0
    """No finding remains: healthy, or repaired and reported."""
    FINDINGS = 1
    """Findings remain; `compile` wrote no output."""
    USAGE = 2
    """The command line, a file or an option is wrong, or the machine has no space, memory, descriptors or processes left."""
    INTERNAL = 3
    """fissile broke and stock IREE cannot stand in, or --strict was given; a reproducer is named."""


class FissileError(Exception):
    """The base class of all errors: a message of one line, and ``hint``, which says what to do."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(FissileError):
    """A missing file, an unknown flag, pass, option or phase, an unwritable output.

    ``excerpt`` is what is wrong, in lines of its own: a pipeline with a caret under it.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "", excerpt: str = "") -> None:
        super().__init__(message, hint)
        self.excerpt = excerpt

    def __str__(self) -> str:
        return f"{self.message}\n{self.excerpt}" if self.excerpt else self.message


class InternalError(FissileError):
    """fissile, a pass, or IREE itself failed. ``reproducer`` is a command that reproduces it.

    A program in memory and registered passes are kept in a folder of the temporary folder for it: `fissile-reproducer-…`.
    """

    def __init__(self, message: str, hint: str = "", reproducer: str = "", detail: str = "") -> None:
        super().__init__(message, hint)
        self.reproducer = reproducer
        self.detail = detail
        """The traceback, where there is one; printed with FISSILE_TRACEBACK=1."""


class CompileError(FissileError):
    """The program was rejected: errors remain, and there is no module. ``report`` has every finding."""

    exit_code = ExitCode.FINDINGS

    def __init__(self, report: Report) -> None:
        first, more = report.errors[0], len(report.errors) - 1
        also = f" (and {more} more)" if more else ""
        super().__init__(f"{first.code}: {first.message}{also}", "print(error.report) shows every finding")
        self.report = report


class RunError(FissileError):
    """A compiled module failed at run time. ``detail`` is the runtime's message."""

    exit_code = ExitCode.FINDINGS

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


def refused_by_system(error: BaseException) -> UsageError | None:
    """What the operating system refuses, as one line with its cause; None where ``error`` is something else.

    A full disk, a limit of the shell or no memory is no defect of fissile, of IREE or of the program.
    """
    if (
        isinstance(error, MemoryError)
        or isinstance(error, (ImportError, RuntimeError))
        and _NO_MEMORY.search(str(error))
    ):
        return UsageError("out of memory", WAYS_OUT[errno.ENOMEM])
    if isinstance(error, ImportError):  # the loader of shared libraries has its errors as text
        number = next((n for n in (errno.EMFILE, errno.ENFILE) if os.strerror(n) in str(error)), 0)
        return UsageError(os.strerror(number), WAYS_OUT[number]) if number else None
    if not isinstance(error, OSError) or error.errno is None or isinstance(error, ConnectionError):
        return None
    if error.errno == errno.ENOENT and error.filename is None and not _has_working_directory():
        return UsageError(
            "the working directory does not exist any more",
            "change into one that does (cd), or name every file by its full path",
        )
    named = f" ({error.filename})" if isinstance(error.filename, (str, os.PathLike)) else ""
    return UsageError(f"{os.strerror(error.errno)}{named}", WAYS_OUT.get(error.errno, ""))


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


_NO_MEMORY = re.compile(
    "failed to map segment|cannot allocate memory|can't start new thread|bad_alloc", re.IGNORECASE
)
"""What the loader of shared libraries, Python and C++ say where memory, or room for a thread, is refused."""
WAYS_OUT = {
    errno.ENOSPC: "free space there, or choose another place; temporary files go to the folder that TMPDIR names",
    errno.EDQUOT: "free space there, or choose another place; temporary files go to the folder that TMPDIR names",
    errno.EFBIG: "the shell limits the size of files: ulimit -f",
    errno.EMFILE: "the shell limits the number of open files: ulimit -n",
    errno.ENFILE: "the machine has no more file descriptors",
    errno.EAGAIN: "the machine has no room for another process: ulimit -u",
    errno.ENOMEM: "give it more memory; the shell may limit it: ulimit -v",
    errno.E2BIG: "arguments and environment variables take all the room that there is for a command: unset large variables",
}
"""What to do about an error of the operating system."""


def closest(name: str, known: list[str]) -> str:
    """A hint that names the known spelling nearest to ``name``, or all of them where few."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    if len(known) <= 16:
        return "known: " + ", ".join(sorted(known))
    return ""
