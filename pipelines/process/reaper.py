"""Cleans up after a process that was killed: a small process of its own, which outlives its parent.

Started by `scratch` (by path, with nothing but the standard library). It reads JSON lines from a pipe: {"mark": TEXT},
{"group": PID}, {"ended": PID}, {"folder": PATH}, {"removed": PATH}, {"done": true}. When the pipe or the parent ends without "done", the
reaper kills the groups and every process whose environment holds a mark, then removes the folders and what they list as staged.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

MARK_VARIABLE = "FISSILE_CHILD"
"""Environment variable of every child: the marks of the processes that it descends from, separated by colons."""
PREFIX, TEMPORARY = "fissile-", "tmp"
"""What the name of a scratch folder begins with, and its folder for a child's temporary files."""
STAGED = "staged"
"""File in a scratch folder: one JSON string a line, a path outside of the folder that has to go when the folder goes."""
_LOOKING_MILLISECONDS = 1000
"""Between two looks at the parent, where it cannot be waited for."""
_KILLING_SECONDS = 30.0
"""For processes that are marked and do not end although they were killed (uninterruptible I/O)."""


def main(descriptor: int, parent: int) -> None:
    """Reads from ``descriptor`` until process ``parent`` is done (returns) or gone (cleans up)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    marks: set[str] = set()
    groups: set[int] = set()
    folders: dict[str, None] = {}
    for line in _lines(descriptor, parent):
        message = json.loads(line)
        if "done" in message:
            return
        if "mark" in message:
            marks.add(message["mark"])
        if "group" in message:
            groups.add(message["group"])
        groups.discard(message.get("ended", 0))
        if "folder" in message:
            folders[message["folder"]] = None
        folders.pop(message.get("removed", ""), None)
    for group in groups:
        kill_group(group)
    kill_marked(marks)
    for folder in folders:
        remove_folder(folder)


def _lines(descriptor: int, parent: int) -> Iterator[bytes]:
    """Whole lines, until the parent has ended: a fork of its own may hold the pipe open longer.

    A parent that ended before the watch began, whose number may belong to another process by now, is known by `getppid`: an orphan
    has another parent. Where there is no descriptor of a process (an old kernel, none left), that is looked at each second.
    """
    poll, ended = select.poll(), -1
    poll.register(descriptor, select.POLLIN)
    with suppress(AttributeError, OSError):
        ended = os.pidfd_open(parent)
        poll.register(ended, select.POLLIN)
    rest = b""
    while True:
        is_over = os.getppid() != parent
        ready = dict(poll.poll(0 if is_over else None if ended >= 0 else _LOOKING_MILLISECONDS))
        if descriptor in ready:
            if not (chunk := os.read(descriptor, 1 << 16)):
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
        elif is_over:
            return


def kill_group(leader: int) -> None:
    """SIGKILL to the process group of ``leader``; none left is no error."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def kill_marked(marks: set[str]) -> None:
    """SIGKILL to every process whose environment holds one of ``marks``, until there is none (Linux: /proc)."""
    wanted = [mark.encode() for mark in marks]
    until = time.monotonic() + _KILLING_SECONDS
    while wanted and (found := _marked(wanted)) and time.monotonic() < until:
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.005)


def _marked(marks: list[bytes]) -> list[int]:
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [pid for pid in pids if pid != os.getpid() and any(mark in _environment(pid) for mark in marks)]


def _environment(pid: int) -> bytes:
    """The environment that ``pid`` was started with; nothing for a zombie and for another user's process."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def remove_folder(folder: str) -> None:
    """Removes a scratch folder and what it, and those inside it, list as staged elsewhere; what is gone already is no error."""
    inside = os.path.join(folder, TEMPORARY)
    try:
        nested = [name for name in os.listdir(inside) if name.startswith(PREFIX)]
    except OSError:
        nested = []
    for name in nested:
        remove_folder(os.path.join(inside, name))
    try:
        with open(os.path.join(folder, STAGED), "rb") as file:
            staged = [json.loads(line) for line in file if line.endswith(b"\n")]
    except OSError:
        staged = []
    for path in (*staged, folder):
        shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
