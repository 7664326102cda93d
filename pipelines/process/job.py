"""What a worker process is to do, what it answers, and the files by which it is followed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fissile import wire
from fissile.finding import Finding
from fissile.passes.failures.failure import Ending
from fissile.passes.iree.flags import PRINTED_AT_EXIT
from fissile.report import Report
from fissile.rules.rule import Rule, receive

from ..compile.request import CompileRequest


@dataclass(frozen=True)
class Job:
    """``folder`` holds the job's files; the worker reads the job from `file` there."""

    folder: str

    @property
    def file(self) -> Path:
        return Path(self.folder, "job.json")

    @property
    def result(self) -> Path:
        """Its `Answer`, once there is one."""
        return Path(self.folder, "result.json")

    @property
    def translating(self) -> Path:
        """How many dispatches it generates code for now, whether the repair loop requested them, and which, where it is one."""
        return Path(self.folder, "translating")

    @property
    def reads(self) -> str:
        """The file with the program."""
        raise NotImplementedError

    @property
    def may_be_forked(self) -> bool:
        """Whether the worker may end without Python's and native exit functions, as a fork does."""
        return True

    @property
    def runs_users_code(self) -> bool:
        """Whether passes of the user's own run in the worker, which may start processes and end well."""
        return False


@dataclass(frozen=True)
class CompileJob(Job):
    """``output`` is the temporary file, ``input`` what came from standard input or was imported.

    ``ended`` says how the straight compile took an earlier worker along (``ending``), ``endless`` are the fingerprints of dispatches that do not
    end. ``apart``: the repair loop probes in separate processes; ``translate``: to the very end. ``unhurried``: no dispatch is
    to blame for a straight compile that did not end, and each phase has its limit alone. ``bare`` says why
    the program is compiled as stock does.
    """

    request: CompileRequest
    output: str
    input: str = ""
    ended: str = ""
    ending: Ending = Ending.CRASHED
    endless: tuple[str, ...] = ()
    apart: bool = False
    translate: bool = False
    unhurried: bool = False
    bare: str = ""

    @property
    def reads(self) -> str:
        return self.input or self.request.input

    @property
    def may_be_forked(self) -> bool:
        """Not where IREE prints as the process ends, nor where passes of the user's own may have something to do then."""
        words = (*self.request.argv, *self.request.flags)
        return not self.request.load_passes and not any(
            part in word for word in words for part in PRINTED_AT_EXIT
        )

    @property
    def runs_users_code(self) -> bool:
        return bool(self.request.load_passes)

    @property
    def started(self) -> Path:
        """There once IREE has taken its flags."""
        return Path(self.folder, "started")

    @property
    def messages(self) -> Path:
        """The errors of IREE's last run, a list of texts."""
        return Path(self.folder, "messages")


@dataclass(frozen=True)
class CheckJob(Job):
    """What `fissile check` checks (``program`` is what ``source`` was imported as), and what is known of it from workers that ended before: ``ended`` has a finding for each target
    that took one along."""

    source: str
    program: str
    command: str
    targets: tuple[str, ...]
    options: dict[str, Any]
    endless: tuple[str, ...]
    apart: bool
    ended: dict[str, Finding]
    no_cache: bool = False

    @property
    def reads(self) -> str:
        return self.program

    @property
    def at(self) -> Path:
        """The target and the phase that IREE runs to."""
        return Path(self.folder, "at")


@dataclass(frozen=True)
class AuditRequest(Job):
    """What `fissile audit` compiles op by op, for ``targets`` with their flags."""

    source: str
    targets: tuple[tuple[str, tuple[str, ...]], ...]
    options: dict[str, Any]

    @property
    def reads(self) -> str:
        return self.source

    @property
    def at(self) -> Path:
        """The op that is compiled now."""
        return Path(self.folder, "at")

    @property
    def journal(self) -> Path:
        """A line for each op that was compiled: its key and its outcome."""
        return Path(self.folder, "journal")


@dataclass(frozen=True)
class WorkerError:
    """An error that is no finding; ``traceback`` where it is fissile's own."""

    message: str
    hint: str = ""
    exit_code: int = 0
    reproducer: str = ""
    traceback: str = ""
    excerpt: str = ""


@dataclass(frozen=True)
class Answer:
    """What a worker says in the end: a report, or an error. ``rules`` are those that passes of the user's declare for its findings."""

    report: Report | None = None
    error: WorkerError | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class _Rules:
    rules: tuple[Rule, ...] = ()


def read_answer(data: bytes) -> Answer:
    """What a worker has left. Raises WireError."""
    receive(wire.decode(_Rules, data).rules)  # a finding is not built without its rule
    return wire.decode(Answer, data)
