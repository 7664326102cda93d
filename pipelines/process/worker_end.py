"""How a worker process ended, as a report or an error: in words, with the cause where the system is it, and a command that shows it again."""

from __future__ import annotations

import difflib
import errno
import os
import re
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from fissile import wire
from fissile.errors import WAYS_OUT, ExitCode, FissileError, InternalError, UsageError, refused_by_system
from fissile.finding import Finding
from fissile.passes.failures.failure import Ending, failure_that_ends
from fissile.passes.iree.messages import DID_YOU_MEAN, FLAG_ERROR, TOOL_LACKED_SPACE, UNKNOWN_FLAG
from fissile.passes.progress import Step
from fissile.passes.user_code import way_out
from fissile.report import Report

from ..compile.options import DRIVER, OWN
from ..compile.request import CompileRequest
from ..compile.stepping_aside import own_command, stock_command
from .entry import REFUSED
from .job import CompileJob, WorkerError
from .memory_limit import OPTION as MEMORY_OPTION
from .memory_limit import OUT_OF_MEMORY, memory_limit

_OUT_OF_SPACE_NUMBERS = {os.strerror(number): number for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}
_OUT_OF_SPACE = re.compile("|".join(map(re.escape, _OUT_OF_SPACE_NUMBERS)))
"""What native code says where a disk is full, before it ends the process."""


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker process ended. ``status`` is negative for a signal; ``timed_out``: it was stopped."""

    status: int
    timed_out: bool
    errors: str
    step: Step | None = None
    """What it did when it ended; None where it noted nothing, or had an answer."""
    phase_limit: float = 0.0
    """Seconds that the step exceeded, where that is why it was stopped."""


_MAY_LACK_MEMORY = (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS)
_LLVM_GIVES_UP = 1
_SHELLS_LIMITS = {
    "ulimit -v": (resource.RLIMIT_AS, _MAY_LACK_MEMORY),
    "ulimit -d": (resource.RLIMIT_DATA, _MAY_LACK_MEMORY),
    "ulimit -f": (resource.RLIMIT_FSIZE, (_LLVM_GIVES_UP,)),
}
"""Limits of a shell, and how native code ends that meets one, often without a word."""


def how_it_ended(status: int) -> str:
    """``SIGSEGV``, ``exit status 99``; with a limit of the shell's that may be why."""
    try:
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    except ValueError:
        how = f"signal {-status}"
    limits = [
        name for name, (kind, ends) in _SHELLS_LIMITS.items() if status in ends and _is_the_shells(kind)
    ]
    return f"{how}; a limit is set here that may be why: {' and '.join(limits)}" if limits else how


def _is_the_shells(kind: int) -> bool:
    """Whether a limit is in force that fissile did not set itself: its own is on the memory of child processes."""
    most = resource.getrlimit(kind)[0]
    own = memory_limit() if kind == resource.RLIMIT_DATA else 0
    return most != resource.RLIM_INFINITY and (not own or most < own)


def system_ended(status: int, error_lines: str) -> UsageError | None:
    """The cause, where a process that ended with ``status``, and printed ``errors``, was short of something, or was ended by another."""
    if REFUSED < status < 2 * REFUSED:  # a process that was stopped has 124
        return refused_by_system(OSError(status - REFUSED, os.strerror(status - REFUSED)))
    if status and (full := _OUT_OF_SPACE.search(error_lines)):
        return refused_by_system(OSError(_OUT_OF_SPACE_NUMBERS[full[0]], full[0]))
    if status and OUT_OF_MEMORY.search(error_lines):
        return UsageError(
            "the compiler ran out of memory",
            f"give it more: {MEMORY_OPTION}=SIZE, ulimit -v and -d, or a larger machine; where enough was free, IREE has a bug and "
            "asked for a size that does not exist",
        )
    if status == -signal.SIGKILL:
        return UsageError("the compiler's process was killed (SIGKILL), as the system does when memory runs out",
                          f"give it more memory, or a limit that it reports: {MEMORY_OPTION}=SIZE")  # fmt: skip
    if -status in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name = signal.Signals(-status).name
        return UsageError(f"a signal ended the compiler's process ({name})", "run the command again")
    if status == -signal.SIGXCPU:
        return UsageError("the shell's limit of processor time ended the compiler (SIGXCPU)", "ulimit -t")
    if status == -signal.SIGXFSZ:
        return UsageError("File too large (SIGXFSZ)", "the shell limits the size of files: ulimit -f")
    return None


def with_room(report: Report, printed: str) -> Report:
    """``report``, whose process printed ``printed``. Raises UsageError where what it reports is a linker that had no room for its file."""
    if report.exit_code:
        texts = (printed, *(f"{finding.stock}\n{finding.detail}" for finding in report.findings))
        if lacked := next(filter(None, map(TOOL_LACKED_SPACE.search, texts)), None):
            words = lacked[0].rpartition(":")[2].strip()
            number = _OUT_OF_SPACE_NUMBERS.get(
                words, errno.EFBIG
            )  # File size limit exceeded: a signal's name
            raise UsageError(f"IREE's linker: {os.strerror(number)}", WAYS_OUT[number])
    return report


def out_of_space(folder: Path) -> UsageError | None:
    """Why a process that worked in ``folder`` may have had no room to say why it ended: LLVM ends where a stream cannot be written."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    try:
        if most != resource.RLIM_INFINITY and any(
            f.stat().st_size >= most for f in folder.rglob("*") if f.is_file()
        ):
            return refused_by_system(OSError(errno.EFBIG, os.strerror(errno.EFBIG)))
        with (folder / "room").open("wb", buffering=0) as file:
            file.write(b"\0" * 4096)
    except OSError as error:
        return refused_by_system(error)
    return None


def report_of(job: CompileJob, end: WorkerEnd, request: CompileRequest) -> Report:
    """A report for a compile that neither ended nor printed anything."""
    again = f"shows it again: {stock_command(request)}"
    if refused := system_ended(0 if end.timed_out else end.status, end.errors):
        raise refused
    if end.timed_out:
        limit = f" within {request.time_limit:g} seconds" if request.time_limit else ""
        if end.phase_limit:
            limit = f": {phase_not_ended(end)}"
        return Report(
            "compile",
            (
                Finding(
                    failure_that_ends(Ending.TIMED_OUT).code,
                    f"the compile does not end{limit}",
                    subject=request.input,
                    notes=("the compiler was stopped; nothing was written", again),
                ),
            ),
        )
    error_lines = tuple(f"IREE reported before: {text.splitlines()[0]}" for text in messages_before(job)[-2:])
    return Report(
        "compile",
        (
            Finding(
                failure_that_ends(Ending.CRASHED).code,
                _crashed(end),
                subject=request.input,
                notes=(*error_lines, "nothing was written", again),
                detail=end.errors[-4000:],
            ),
        ),
    )


def ending_of(end: WorkerEnd) -> Ending:
    return Ending.TIMED_OUT if end.timed_out else Ending.CRASHED


def why_it_ended(end: WorkerEnd, request: CompileRequest) -> str:
    if end.timed_out:
        return f"the compiler did not end within {request.dispatch_timeout:g} seconds per dispatch (--dispatch-timeout)"
    return _crashed(end)


def _crashed(end: WorkerEnd) -> str:
    return f"the compiler crashed ({how_it_ended(end.status)}){f' in {end.step.what}' if end.step else ''}"


def users_error(end: WorkerEnd, again: str) -> FissileError:
    """What a step of the user's own did to a worker."""
    step = end.step.what if end.step else "a step"
    if refused := system_ended(0 if end.timed_out else end.status, end.errors):
        return UsageError(f"{step}: {refused.message}", refused.hint)
    limit = f" within {end.phase_limit:g} s (--phase-timeout)" if end.phase_limit else ""
    how = f"did not end{limit}" if end.timed_out else f"ended the process ({how_it_ended(end.status)})"
    return InternalError(f"{step} {how}", way_out(step), reproducer=again)


def phase_not_ended(end: WorkerEnd) -> str:
    return f"{end.step.what if end.step else 'a step'} did not end within {end.phase_limit:g} s (--phase-timeout)"


def error_of(error: WorkerError, request: CompileRequest) -> FissileError:
    if error.exit_code == ExitCode.USAGE:
        return UsageError(error.message, error.hint, error.excerpt)
    if os.environ.get("FISSILE_TRACEBACK") and error.traceback:
        sys.stderr.write(error.traceback)
    return InternalError(
        error.message,
        error.hint or "FISSILE_TRACEBACK=1 shows where",
        error.reproducer or own_command(request),
    )


def wrong_flag(end: WorkerEnd) -> UsageError | None:
    """What LLVM's command line parser says of a flag that it does not take; None where it says nothing."""
    if unknown := UNKNOWN_FLAG.search(end.errors):
        near = DID_YOU_MEAN.search(end.errors)
        return UsageError(
            f"unknown flag '{unknown.group(1)}'", meant(unknown.group(1), near[1] if near else "")
        )
    if wrong := FLAG_ERROR.search(end.errors):
        return UsageError(f"flag '{wrong.group(1)}': {wrong.group(2).strip()}")
    return None


def flag_error(end: WorkerEnd) -> FissileError:
    """Why a worker ended before it began, in one line: its flags, as a rule."""
    if wrong := wrong_flag(end):
        return wrong
    if refused := system_ended(end.status, end.errors):
        return refused
    error_lines = [line for line in end.errors.splitlines() if line.strip()]
    return InternalError(
        f"the worker process ended before it began ({how_it_ended(end.status)})"
        + (f": {error_lines[-1].strip()}" if error_lines else "")
    )


def meant(flag: str, llvm: str) -> str:
    """A hint for the unknown ``flag``: fissile's options and IREE's driver flags before ``llvm``'s suggestion out of thousands."""
    name, equals, value = flag.lstrip("-").partition("=")
    own = [
        spelling
        for spelling in {**OWN, **DRIVER}
        if not spelling.startswith("fissile-") and len(spelling) > 1
    ]
    if near := difflib.get_close_matches(name, own, n=1, cutoff=0.7):
        return f"did you mean '--{near[0]}{equals}{value}'?"
    suggested = llvm.lstrip("-").partition("=")[0]
    likeness = difflib.SequenceMatcher(None, name, suggested).ratio()
    if llvm and (suggested.startswith("iree-") or likeness >= 0.8):
        return f"did you mean '{llvm}'?"
    return "fissile compile --help and iree-compile --help list the flags"


def messages_before(job: CompileJob) -> list[str]:
    """The errors of IREE's last run in the worker, as it left them."""
    return wire.decode(list[str], job.messages.read_bytes()) if job.messages.exists() else []
