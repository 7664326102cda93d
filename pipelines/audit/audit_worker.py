"""`fissile audit` in a process of its own: an op that crashes the compiler ends that process, and is one more answer.

`run_audit` is the caller's side; `python -m fissile.pipelines.audit.audit_worker JOB.json` the child's. Outcomes are written to a
journal as they come: a child that is started after a crash goes on where the other ended.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from fissile import wire
from fissile.errors import ExitCode, UsageError
from fissile.finding import Finding, Severity
from fissile.passes.failures.failure import failure_that_ends
from fissile.passes.iree.late_imports import load_late
from fissile.passes.progress import note_in
from fissile.report import Report

from ..process.entry import begin, error_in_words, leave_answer
from ..process.job import Answer, AuditRequest, WorkerError
from ..process.limits import with_limits
from ..process.scratch import scratch
from ..process.supervisor import run_job
from ..process.worker_end import (
    WorkerEnd,
    ending_of,
    how_it_ended,
    phase_not_ended,
    system_ended,
    wrong_flag,
)

MOST_CHILDREN = 40
"""Crashes and endless compiles that one audit survives, for each of its targets."""


def run_audit(
    source: str,
    targets: Sequence[tuple[str, Sequence[str]]],
    *,
    command: str = "",
    dispatch_timeout: float = 30.0,
    time_limit: float = 0.0,
    **options,
) -> Report:
    """Audits the file ``source`` for ``targets``, (name, flags of iree-compile) each, in a child process. Raises UsageError.

    ``options``: start, to, name, allow_pipelines (`AuditJob`). ``time_limit`` seconds for each child, 0 for none.
    """
    with scratch() as folder:
        job = AuditRequest(
            str(folder), source, tuple((name, tuple(flags)) for name, flags in targets), options
        )
        for _child in range(MOST_CHILDREN * max(1, len(targets))):
            end = run_job(job, folder, time_limit, dispatch_timeout, __name__)
            if job.result.exists() and not end.timed_out:
                return _outcome(wire.decode(Answer, job.result.read_bytes()), job, command)
            key, _, step = _read(job.at).partition(" ")
            for file in (job.translating, job.at):
                file.unlink(missing_ok=True)
            if refused := system_ended(0 if end.timed_out else end.status, end.errors):
                raise refused
            if not key and end.step is not None:
                return _stopped(end, source, command)
            if not key and (wrong := wrong_flag(end)):
                raise wrong
            if not key:
                return _failed(
                    f"the auditing process ended early ({how_it_ended(end.status)})",
                    command,
                    end.errors[-4000:],
                )
            _note(job.journal, key, _ended_by(end, step))
        return _failed("too many ops end the compiler's process", command, "")


def _stopped(end: WorkerEnd, source: str, command: str) -> Report:
    """A step of IREE's on the whole program, its parse for example, that ended the process or did not end."""
    assert end.step is not None
    how = (
        f"the compile does not end: {phase_not_ended(end)}"
        if end.phase_limit
        else f"the compiler crashed ({how_it_ended(end.status)}) in {end.step.what}"
    )
    notes = (f"shows it again: {command}",) if command else ()
    found = Finding(
        failure_that_ends(ending_of(end)).code, how, subject=source, notes=notes, detail=end.errors[-4000:]
    )
    return Report("audit", (found,), facts={"audit": []})


def _ended_by(end: WorkerEnd, step: str) -> dict:
    """The outcome of a compile that took its process along."""
    how = (
        "the compiler does not end" if end.timed_out else f"the compiler crashes ({how_it_ended(end.status)})"
    )
    return {"reached": "start", "failed": step, "message": how, "failing_pass": "", "text": how, "died": True}


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _note(journal: Path, key: str, outcome: object) -> None:
    with journal.open("ab") as file:
        file.write(wire.encode([key, outcome]) + b"\n")


def _outcome(answer: Answer, job: AuditRequest, command: str) -> Report:
    if answer.report is not None:
        return answer.report
    error = answer.error or WorkerError("it had no answer")
    if error.exit_code == ExitCode.USAGE:
        raise UsageError(error.message, error.hint)
    again = command or with_limits(f"fissile audit {shlex.quote(job.source)}")
    return _failed(error.message, again, error.traceback)


def _failed(why: str, command: str, detail: str) -> Report:
    """FIS903: nothing is known of the program."""
    notes = (f"report it, with what this prints: FISSILE_TRACEBACK=1 {command}",) if command else ()
    finding = Finding(
        "FIS903", f"the program could not be audited: {why}", Severity.ERROR, notes=notes, detail=detail
    )
    return Report("audit", (finding,), facts={"audit": []})


def main() -> int:
    begin()
    job = wire.decode(AuditRequest, Path(sys.argv[1]).read_bytes())
    note_in(Path(job.folder))
    load_late()
    try:
        answer = Answer(_audited(job))
    except BaseException as error:  # the caller turns it into one line and a reproducer
        answer = Answer(error=error_in_words(error))
    leave_answer(job.result, answer)
    os._exit(0)  # to free what IREE has made takes longer than to end


def _audited(job: AuditRequest) -> Report:
    from fissile.passes.analysis.legality.compiler import Outcome
    from fissile.passes.containment import Containment, containing
    from fissile.passes.iree import library
    from fissile.passes.iree.legality.candidates import PASS_FLAGS

    from ..pass_runner import check_preprocessing
    from ..session import Session
    from .entry import AuditJob, run_audit_here

    asked = [flag for _name, flags in job.targets for flag in flags]
    check_preprocessing(asked)
    library.initialise_command_line((*PASS_FLAGS, *library.process_flags(asked)))
    for flags in dict.fromkeys(flags for _name, flags in job.targets):
        Session(flags)  # raises UsageError for what it does not take
    lines = job.journal.read_bytes().splitlines() if job.journal.exists() else []
    known = dict(wire.decode(tuple[str, Outcome], line) for line in lines)

    def begins(key: str, whole: bool, step: str) -> None:
        job.at.write_text(f"{key} {step}", encoding="utf-8")
        job.translating.write_text("" if whole else f"1 repairing {key}")

    def ended(key: str, outcome: Outcome) -> None:
        _note(job.journal, key, outcome)
        job.at.unlink(missing_ok=True)
        job.translating.write_text("")

    with containing(Containment("", expendable=False)) as containment:
        report = run_audit_here(AuditJob(job.source, job.targets, known=known, **job.options), begins, ended)
    return Report(
        report.command, (*report.findings, *containment.missed), facts=report.facts, seconds=report.seconds
    )


if __name__ == "__main__":
    sys.exit(main())
