"""The folder that a command works in. It goes with the command, however that ends.

    with scratch() as folder:
        ...

The folder is private, its name is not to be guessed, and the process that made it removes it. If that process is killed, the
reaper does (`reaper`), after it has ended what the process had started.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fissile.errors import UsageError

from . import reaper

SCRATCH_VARIABLE = "FISSILE_SCRATCH"
"""Environment variable of every child: its parent's scratch folder."""
LASTING_VARIABLE = "FISSILE_LASTING"
"""Environment variable of every child: the folder for files that are to stay when the command is over, a reproducer for example."""
_SMALL_PAGES = 1 << 14
"""A process with fewer resident pages (64 MiB of 4 KiB) and one thread is forked; another starts the reaper as a program."""

_lock = threading.Lock()
_covering: Cover | None = None
_is_child = False


class Cover:
    """The connection to the reaper of this process, shared by all who need it. ``mark`` stands in the environment of every child."""

    def __init__(self) -> None:
        self.mark = os.urandom(16).hex()
        self.users = 0
        self.owner = os.getpid()
        self._pipe, self._pid = _start_reaper()
        self.send(mark=self.mark)

    def send(self, **message: object) -> None:
        """Best effort: where there is no reaper, the process cleans up as long as it lives."""
        if self._pipe is not None:
            with suppress(OSError):
                os.write(self._pipe, json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        self.send(done=True)
        if self._pipe is not None:
            os.close(self._pipe)
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


def become_child() -> None:
    """Called by a child process: its parent's reaper and scratch folder cover what it starts and makes."""
    global _is_child, _covering
    _is_child, _covering = True, None


def acquire() -> Cover | None:
    """The reaper of this process, started for the first user. None in a child process, which its parent's covers.

    A user that never calls `release` leaves its processes and folders to the reaper, when this process ends.
    """
    global _covering
    if _is_child:
        return None
    with _lock:
        if _covering is None or _covering.owner != os.getpid():  # a fork of the user's has none
            _covering = Cover()
        _covering.users += 1
        return _covering


def release(cover: Cover | None) -> None:
    """Ends the reaper with its last user."""
    global _covering
    if cover is None or cover.owner != os.getpid():
        return
    with _lock:
        cover.users -= 1
        if not cover.users:
            cover.close()
            _covering = None


@contextmanager
def scratch() -> Iterator[Path]:
    """A private folder with an empty folder `tmp` in it."""
    cover, owner, folder = acquire(), os.getpid(), None
    try:
        # The reaper knows the name before there is a folder: no moment at which a kill would leave it.
        folder = Path(_temporary_folder(), f"{reaper.PREFIX}{os.urandom(16).hex()}").absolute()
        if cover is not None:
            cover.send(folder=str(folder))
        folder.mkdir(mode=0o700)
        (folder / reaper.TEMPORARY).mkdir(mode=0o700)
        yield folder
    finally:
        if folder is not None and owner == os.getpid():  # and not in a fork of the user's
            reaper.remove_folder(str(folder))
            if cover is not None:
                cover.send(removed=str(folder))
        release(cover)


def lasting_folder() -> str:
    """Where a file is put that stays when the command is over: the temporary folder of the command, not that of a child."""
    return os.environ.get(LASTING_VARIABLE) or tempfile.gettempdir()


def _temporary_folder() -> str:
    """Where scratch folders are made. Raises UsageError with the cause where no file can be written in any such folder."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        folder = os.environ.get("TMPDIR", "/tmp")
    probe = Path(folder, f"{reaper.PREFIX}{os.urandom(16).hex()}")
    try:
        with probe.open("xb", buffering=0) as file:
            file.write(b"x")
        why = ""
    except OSError as error:
        why = f": {error.strerror} ({folder})"
    with suppress(OSError):
        probe.unlink()
    raise UsageError(
        f"no folder for temporary files can be written to{why}",
        "free space there, or name another folder: TMPDIR; ulimit -f",
    )


def is_child() -> bool:
    """Whether this process was started by fissile, for one job."""
    return _is_child


def stage(folder: Path, outside: Path) -> None:
    """Lists ``outside``, a folder that is about to be made, among what goes with the scratch ``folder``."""
    line = json.dumps(str(outside)).encode() + b"\n"
    descriptor = os.open(
        folder / reaper.STAGED, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _start_reaper() -> tuple[int | None, int]:
    """The pipe to a new reaper, and its process; no pipe where the system refuses to start one."""
    try:
        reading, writing = os.pipe()
    except OSError:
        return None, 0
    try:
        return writing, _forked_reaper(reading) if is_small() else _executed_reaper(reading)
    except OSError:
        os.close(writing)
        return None, 0
    finally:
        os.close(reading)


def is_small() -> bool:
    """Whether a fork is safe (no other thread) and cheap."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return len(os.listdir("/proc/self/task")) == 1 and int(file.read().split()[1]) < _SMALL_PAGES
    except OSError:
        return False


def _forked_reaper(reading: int) -> int:
    """0.1 ms where starting an interpreter takes 8."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        # A signal to this process's group must not reach the reaper, and on a busy machine the fork has not run yet when there is
        # already something to clean up.
        with suppress(OSError):  # it was quicker
            os.setpgid(pid, pid)
        return pid
    try:
        with suppress(OSError):  # the parent was quicker
            os.setsid()
        os.dup2(reading, 0)
        os.closerange(
            1,
            os.sysconf("SC_OPEN_MAX")
            if not os.path.isdir("/proc/self/fd")
            else 1 + max(map(int, os.listdir("/proc/self/fd"))),
        )
        os.chdir("/")
        reaper.main(0, parent)
    finally:
        os._exit(0)


def _executed_reaper(reading: int) -> int:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", reaper.__file__, "0", str(os.getpid())],
        stdin=reading,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    process.returncode = 0  # `Cover.close` waits for it
    return process.pid


def without_scratch(name: str) -> str:
    """The file's name alone where it is in fissile's own folder: a model that was imported, which is named as the user's file."""
    own = os.environ.get(SCRATCH_VARIABLE, "")
    return Path(name).name if own and Path(name).is_relative_to(own) else name
