"""The one way in which fissile starts another process.

A child has a session and process group of its own, a folder inside its parent's scratch folder for temporary files, a memory limit and a
mark in its environment. It ends with the block that it was started in, its whole group and all marked descendants with it; if
the parent is killed, by the parent-death signal (`entry`) and by the reaper (`scratch`).
"""

from __future__ import annotations

import errno
import gc
import math
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, BinaryIO

from .deadline import CpuDeadline, children_of
from .memory_limit import OUT_OF_MEMORY, apply_memory_limit, memory_limit
from .reaper import MARK_VARIABLE, TEMPORARY, kill_group, kill_marked
from .scratch import (
    LASTING_VARIABLE,
    SCRATCH_VARIABLE,
    Cover,
    acquire,
    is_small,
    lasting_folder,
    release,
    scratch,
)

SAFE_PATH = "-P"
"""Python's option that keeps the working directory (with ``-m``) off the import path: a file `random.py` there is no module."""
PARENT_VARIABLE = "FISSILE_PARENT"
"""Environment variable of a child: its parent's process number (`entry`)."""
_POLL_SECONDS = 0.01
_SIGNALS_SECONDS = 1.0
"""After which a signal is handled at the latest."""
_LOOKING_SECONDS = 0.2
"""Between two looks at how much of its time a child has used."""
_ORPHANS_SECONDS = 30.0
"""For orphans that do not end although they were killed (uninterruptible I/O)."""
_KERNELS_ARG_MAX = 6 << 20
"""Bytes of arguments and environment that Linux takes at most, whatever `ulimit -s` says (fs/exec.c)."""
_ROOM_FOR_A_COMMAND = 16 << 10
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_MOST_OUTPUT = 64 << 20
"""Bytes of each output stream that are read back, from its end."""


FORKS: ContextVar[bool] = ContextVar("forks", default=False)
"""Whether this process is a program of fissile's own, with no code of a user's in it, so that a worker may be its fork."""


GARBAGE_AFTER = (700, 10, 10)
"""Python's own thresholds (3.11 to 3.13), which a short program raises and a worker needs: a dropped module of IREE's is large."""


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs ``module`` of this installation with ``arguments``."""
    return [sys.executable, SAFE_PATH, "-m", module, *arguments]


def _search_paths() -> dict[str, str]:
    """Where a child looks for programs and libraries: not in the working directory.

    A program may choose a target that IREE links with the `ld` of PATH (3.13), and a crash of IREE's looks for `llvm-symbolizer` there. An
    empty entry, which a colon too many makes, is the working directory as `.` is.
    """
    kept: dict[str, Callable[[str], object]] = {"PATH": os.path.isabs, "LD_LIBRARY_PATH": bool}
    return {
        name: os.pathsep.join(filter(is_kept, os.environ[name].split(os.pathsep)))
        for name, is_kept in kept.items()
        if name in os.environ
    }


def _refuse_without_room(environment: Mapping[str, str]) -> None:
    """Raises OSError where ``environment`` leaves no room for the commands that IREE starts: its linker's failure would be an op's."""
    most = min(os.sysconf("SC_ARG_MAX"), _KERNELS_ARG_MAX)
    size = sum(len(os.fsencode(name)) + len(os.fsencode(value)) + 10 for name, value in environment.items())
    if 0 < most < size + _ROOM_FOR_A_COMMAND:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))


class Child:
    """A running child process. Use it as a context manager: it does not outlive the block.

    ``runs_users_code``: it may end well and leave processes behind, which are ended too.

    ``folder`` is the scratch folder that its TMPDIR lies in. Streams are what `subprocess.Popen` takes. ``memory`` is in bytes, where it is to
    be less than `memory_limit`. ``directory``: the working directory, where it is to be another than this process's.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike],
        folder: Path,
        *,
        stdin: int | IO | None = subprocess.DEVNULL,
        stdout: int | IO | None = subprocess.DEVNULL,
        stderr: int | IO | None = subprocess.DEVNULL,
        memory: int | None = None,
        directory: Path | None = None,
    ) -> None:
        self._begin(memory)
        environment = os.environ | self._variables(folder)
        try:  # a signal may raise at any moment, between the start of the process and the assignment too
            process = subprocess.Popen(
                [os.fspath(part) for part in command],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                cwd=directory,
                start_new_session=True,
            )
            process.returncode = 0  # this class waits for it
            self.stdin, self.stdout = process.stdin, process.stdout
            self._started(process.pid)
        except BaseException:
            self.end()
            raise

    @classmethod
    def forked(cls, function: Callable[[], int], folder: Path) -> Child:
        """A child that runs ``function`` and ends with its status: only where this process has one thread and has not loaded IREE."""
        self = cls.__new__(cls)
        self._begin()
        parent, variables = os.getpid(), self._variables(folder)
        pid = os.fork()
        if pid:
            try:
                self._started(pid)
            except BaseException:
                self.end()
                raise
            return self
        status = 70
        try:
            from .entry import begin_forked

            os.environ |= variables
            begin_forked(parent)
            status = function()
        finally:
            os._exit(status)

    @classmethod
    def worker(cls, module: str, job: Path, folder: Path, sink: BinaryIO, forks: bool = True) -> Child:
        """A child that calls `main` of ``module`` for the file ``job``, with its output in ``sink``.

        A fork of this process where that is safe, since it has loaded half of what the worker needs: 0.1 s less of a processor. Not
        where PYTHONPATH names files that Python runs at its start, and not where ``forks`` is False.
        """
        if not (forks and FORKS.get() and is_small()) or os.environ.get("PYTHONPATH"):
            return cls(module_command(module, str(job)), folder, stdout=sink, stderr=sink)
        sys.stdout.flush()
        sys.stderr.flush()

        def work() -> int:
            gc.set_threshold(*GARBAGE_AFTER)
            gc.freeze()  # what the parent has open stays open, and is not closed by number when other files have it
            null = os.open(os.devnull, os.O_RDONLY)
            for descriptor, file in enumerate((null, sink.fileno(), sink.fileno())):
                os.dup2(file, descriptor)
            os.close(null)
            sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
            sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)
            if not sys.flags.safe_path:
                del sys.path[0]  # SAFE_PATH
            sys.argv = [module, str(job)]
            try:
                return Context().run(import_module(module).main)
            except BaseException:  # a fork ends without Python's own report
                traceback.print_exc()
                return 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()

        return cls.forked(work, folder)

    def _begin(self, memory: int | None = None) -> None:
        _refuse_without_room(os.environ)
        self._memory = min(filter(None, (memory, memory_limit())), default=0)
        self.status: int | None = None
        self.pid = 0
        self._owner = os.getpid()
        self.stdin = self.stdout = None
        self._mark = os.urandom(16).hex()
        self._descriptor: int | None = None
        self._is_over = False
        self.runs_users_code = False
        self._cover: Cover | None = acquire()

    def _variables(self, folder: Path) -> dict[str, str]:
        marks = [os.environ.get(MARK_VARIABLE, ""), self._cover.mark if self._cover else "", self._mark]
        return {
            MARK_VARIABLE: ":".join(filter(None, marks)),
            PARENT_VARIABLE: str(os.getpid()),
            SCRATCH_VARIABLE: str(folder),
            "TMPDIR": str(folder / TEMPORARY),
            LASTING_VARIABLE: lasting_folder(),
            **_search_paths(),
        }

    def _started(self, pid: int) -> None:
        self.pid = pid
        if self._cover is not None:
            self._cover.send(group=pid)
        apply_memory_limit(pid, self._memory)
        with suppress(AttributeError, OSError):  # Linux 5.3; elsewhere the status is polled
            self._descriptor = os.pidfd_open(pid)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.end()

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit status, negative for a signal; None where it has not ended after ``seconds``."""
        if self._descriptor is not None and self.status is None:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            left = math.inf if seconds is None else seconds
            # In pieces: a signal that comes between Python's last look for one and the call is handled only when the call returns.
            while not poll.poll(int(min(left, _SIGNALS_SECONDS) * 1000) + 1) and left > _SIGNALS_SECONDS:
                left -= _SIGNALS_SECONDS
            return self._reap(os.WEXITED | os.WNOHANG)
        until = None if seconds is None else time.monotonic() + seconds
        while self._reap(os.WEXITED | os.WNOHANG) is None and (until is None or time.monotonic() < until):
            time.sleep(_POLL_SECONDS)
        return self.status

    def end(self) -> None:
        """Ends the process with its group and, if it did not end well by itself, all that descends from it."""
        if self._is_over:
            return
        self._is_over = True
        if self.pid and self.status is None:
            kill_group(self.pid)
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)  # it may not have come so far as to lead its group
            self._reap(os.WEXITED)
        if self.status != 0 or self.runs_users_code:
            kill_marked({self._mark})
        if self._cover is not None:
            self._cover.send(ended=self.pid)
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if self._descriptor is not None:
            os.close(self._descriptor)
        release(self._cover)

    def __del__(self) -> None:
        """For a block that a signal kept from being entered. What is not collected is left to the reaper."""
        if not getattr(self, "_is_over", True) and self._owner == os.getpid():
            self.end()

    def _reap(self, options: int) -> int | None:
        """The exit status, if there is one. What is left of the group is killed while the number is still its leader's."""
        if self.status is not None:
            return self.status
        try:
            if os.waitid(os.P_PID, self.pid, options | os.WNOWAIT) is None:
                return None
            kill_group(self.pid)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:  # this process ignores SIGCHLD: the status is lost
            self.status = 0
        return self.status


@contextmanager
def orphans_ended() -> Iterator[None]:
    """At the end of the block, ends what children that it started have left behind, in sessions of their own too (Linux).

    A fork has no mark that can be seen from outside. Within the block this process is the parent of its descendants' orphans.
    """
    known = set(children_of(os.getpid()))
    _set_subreaper(True)
    try:
        yield
    finally:
        until = time.monotonic() + _ORPHANS_SECONDS
        while (left := set(children_of(os.getpid())) - known) and time.monotonic() < until:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(_POLL_SECONDS)
        _set_subreaper(False)


def _set_subreaper(is_one: bool) -> None:
    if sys.platform.startswith("linux"):
        import ctypes  # 4 ms: only where a user's code runs

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(is_one), 0, 0, 0)


@dataclass(frozen=True)
class Ended:
    """How a child ended. ``status`` is None where time ran out, below 0 where a signal ended it. ``seconds`` was its limit."""

    status: int | None
    out: str
    err: str
    seconds: float

    @property
    def reason(self) -> str:
        """Why it is no success, in a few words; empty for status 0 and for errors that it reported itself."""
        if self.status is None:
            return f"did not end within {self.seconds:g} s"
        if self.status and OUT_OF_MEMORY.search(self.err):
            return "ran out of memory"
        if self.status == -signal.SIGXFSZ:
            return "File too large (SIGXFSZ): ulimit -f limits the size of files"
        if self.status < 0:
            return f"was ended by {signal.Signals(-self.status).name}"
        return ""


def run_child(
    command: Sequence[str | os.PathLike],
    timeout: float | None,
    memory: int | None = None,
    by_clock: bool = False,
) -> Ended:
    """Runs ``command`` for at most ``timeout`` seconds (None: no limit) in ``memory`` bytes (`Child`).

    The seconds are those of `CpuDeadline`, or ``by_clock``. What it prints goes to files: no reader has to wait for it.
    """
    with scratch() as folder:
        out, err = folder / "out", folder / "err"
        with (
            out.open("wb") as stdout,
            err.open("wb") as stderr,
            Child(command, folder, stdout=stdout, stderr=stderr, memory=memory) as child,
        ):
            if by_clock or timeout is None:
                status = child.wait(timeout)
            else:
                deadline = CpuDeadline(child.pid, timeout)
                while (status := child.wait(min(timeout, _LOOKING_SECONDS))) is None and not deadline.is_over:
                    pass
        return Ended(status, _text(out), _text(err), timeout or 0.0)


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _MOST_OUTPUT))
        return opened.read().decode(errors="replace")
