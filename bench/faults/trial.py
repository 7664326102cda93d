"""One command in a world of its own, and what it left there: processes, files, outputs, messages."""

from __future__ import annotations

import os
import re
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(sys.executable).parent
ROOT = Path(__file__).resolve().parents[2]
MARK = "FAULT_BENCH_MARK"
"""In the environment of every process of a trial."""
STATUSES = (0, 1, 2, 3)
BEFORE_SIGNALS = {"fissile/__init__.py", "fissile/cli/__init__.py", "fissile/before_work.py"}
"""What is being imported until `signals_end_it` has run; the last of them runs it."""
GRACE_SECONDS = 120.0
"""For what cleans up after a command that was killed, on a machine that has other work."""


@dataclass
class Ended:
    """How a command ended. ``orphans`` are command lines, ``leftovers`` paths; ``seconds`` of the clock, ``used`` of a processor."""

    status: int
    out: str
    err: str
    seconds: float
    used: float
    hung: bool
    orphans: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)


class World:
    """A working directory and a folder for temporary files, both of one trial. ``files``: name -> content of what is in it."""

    def __init__(self, root: Path, files: Mapping[str, str | bytes]) -> None:
        self.mark = secrets.token_hex(12)
        self.work, self.temporary, self.cache = root / "work", root / "tmp", root / "cache"
        self.work.mkdir()
        self.temporary.mkdir()
        for name, content in files.items():
            (self.work / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        self._known = set(files)

    def run(
        self,
        command: Sequence[str],
        *,
        outputs: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], object] | None = None,
        disturb: Callable[[subprocess.Popen], object] | None = None,
        limit: float = 900.0,
    ) -> Ended:
        """Runs ``command`` (a program of fissile's, or a shell line) with ``outputs`` as files that it may write.

        ``prepare`` runs in the child before the program; ``disturb`` is given the process once it has begun.
        """
        env = os.environ | {
            MARK: self.mark,
            "TMPDIR": str(self.temporary),
            "FISSILE_CACHE": str(self.cache),  # nothing is known from another trial
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        }
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                list(command),
                cwd=self.work,
                env=env | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=prepare,
            )
            hung = False
            try:
                if disturb:
                    disturb(process)
                process.wait(limit)
            except subprocess.TimeoutExpired:
                hung = True
            finally:
                if hung:
                    for pid in self.processes():
                        with suppress(OSError):
                            os.kill(pid, signal.SIGKILL)
                    process.wait()
            seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read(1 << 20).decode(errors="replace"))
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ended = Ended(process.returncode, *texts, seconds, used, hung)
        ended.orphans = self._orphans()
        ended.leftovers = self._leftovers(outputs)
        return ended

    def processes(self) -> list[int]:
        """The processes of this trial that are alive."""
        wanted, found = f"{MARK}={self.mark}".encode(), []
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError):
                    if wanted in Path("/proc", name, "environ").read_bytes():
                        found.append(int(name))
        return found

    def _orphans(self) -> list[str]:
        until = time.monotonic() + GRACE_SECONDS
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        lines = []
        for pid in left:
            with suppress(OSError):
                lines.append(
                    Path(f"/proc/{pid}/cmdline")
                    .read_bytes()
                    .replace(b"\0", b" ")
                    .decode(errors="replace")
                    .strip()
                )
                os.kill(pid, signal.SIGKILL)
        return lines

    def _leftovers(self, outputs: Sequence[str]) -> list[str]:
        known = self._known | set(outputs) | {"__pycache__"}

        def left() -> list[str]:
            return [
                *(f"work/{n}" for n in os.listdir(self.work) if n not in known),
                *(f"tmp/{n}" for n in os.listdir(self.temporary)),
            ]

        until = time.monotonic() + GRACE_SECONDS
        while left() and time.monotonic() < until:
            time.sleep(0.05)
        return sorted(left())


@contextmanager
def world(files: Mapping[str, str | bytes]) -> Iterator[World]:
    """A world that is gone after the trial."""
    root = Path(tempfile.mkdtemp(prefix="fault-bench-"))
    try:
        yield World(root, files)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def broken_promises(ended: Ended, statuses: Sequence[int] = STATUSES) -> list[str]:
    """What of the exit contract ``ended`` does not keep; empty: all of it holds."""
    output = ended.err + ended.out
    broken = []
    if ended.hung:
        broken.append("does not end")
    elif ended.status not in statuses:
        broken.append(f"exit status {ended.status}")
    if ("Traceback (most recent call last)" in output or "Exception ignored" in output) and not _is_pythons(
        output
    ):
        broken.append("a traceback")
    if ended.orphans:
        broken.append("orphans")
    if ended.leftovers:
        broken.append("leftovers")
    if ended.status in (1, 2, 3) and not output.strip():
        broken.append("no message")
    return broken


def _is_pythons(output: str) -> bool:
    """Whether Ctrl-C came while Python itself started, before fissile's first modules had taken the signal over."""
    files = set(re.findall(rf'File "{re.escape(str(ROOT))}/(fissile/[^"]+)"', output))
    return output.rstrip().endswith("KeyboardInterrupt") and files <= BEFORE_SIGNALS
