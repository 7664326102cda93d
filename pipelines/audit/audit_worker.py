"""`fissile audit` in a process of its own: an op that crashes the compiler ends that process, and is one more answer.

`run_audit` is the caller's side; `python -m fissile.pipelines.audit.audit_worker JOB.json` the child's. Outcomes are written to a
journal as they come: a child that is started after a crash goes on where the other ended.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from fissile.errors import ExitCode, FissileError, UsageError, refused_by_system
from fissile.finding import Finding, Severity
from fissile.passes.iree.late_imports import load_late
from fissile.passes.progress import note_in
from fissile.report import Report

from ..process.entry import begin, leave_answer
from ..process.scratch import scratch
from ..process.supervisor import run_job, translating
from ..process.worker_end import WorkerEnd, how_it_ended, system_ended

MOST_CHILDREN = 40
"""Crashes and endless compiles that one audit survives."""


def run_audit(
    source: str,
    targets: Sequence[tuple[str, Sequence[str]]],
    *,
    command: str = "",
    dispatch_timeout: float = 30.0,
    **options,
) -> Report:
    """Audits the file ``source`` for ``targets``, (name, flags of iree-compile) each, in a child process. Raises UsageError.

    ``options``: start, to, allow_pipelines (`AuditJob`).
    """
    with scratch() as folder:
        job: dict = {
            "source": source,
            "targets": [[name, list(flags)] for name, flags in targets],
            "options": options,
            **{name: str(folder / name) for name in ("result", "at", "translating", "journal")},
        }
        for _child in range(MOST_CHILDREN):
            end = run_job(job, folder, 0.0, dispatch_timeout, __name__)
            if Path(job["result"]).exists() and not end.timed_out:
                return _outcome(json.loads(Path(job["result"]).read_text()), job, command)
            key = translating(Path(job["translating"]))[2] or _read(Path(job["at"]))
            for name in ("translating", "at"):
                Path(job[name]).unlink(missing_ok=True)
            if refused := system_ended(0 if end.timed_out else end.status, end.errors):
                raise refused
            if not key:
                return _failed(
                    f"the auditing process ended early ({how_it_ended(end.status)})",
                    command,
                    end.errors[-4000:],
                )
            with open(job["journal"], "a", encoding="utf-8") as journal:
                journal.write(json.dumps([key, _ended_by(end)]) + "\n")
        return _failed("too many ops end the compiler's process", command, "")


def _ended_by(end: WorkerEnd) -> dict:
    """The outcome of a compile that took its process along."""
    how = (
        "the compiler does not end" if end.timed_out else f"the compiler crashes ({how_it_ended(end.status)})"
    )
    return {"reached": "start", "failed": "end", "message": how, "failing_pass": "", "text": how}


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def _outcome(outcome: dict, job: dict, command: str) -> Report:
    if "error" not in outcome:
        return Report.from_json(outcome)
    error = outcome["error"]
    if error["exit_code"] == ExitCode.USAGE:
        raise UsageError(error["message"], error["hint"])
    return _failed(
        error["message"], command or f"fissile audit {shlex.quote(job['source'])}", error.get("traceback", "")
    )


def _failed(why: str, command: str, detail: str) -> Report:
    """FIS903: nothing is known of the program."""
    notes = (f"report it, with what this prints: FISSILE_TRACEBACK=1 {command}",) if command else ()
    finding = Finding(
        "FIS903", f"the program could not be audited: {why}", Severity.ERROR, notes=notes, detail=detail
    )
    return Report("audit", (finding,), facts={"audit": []})


def main() -> int:
    begin()
    job = json.loads(Path(sys.argv[1]).read_text())
    note_in(Path(job["result"]).parent)
    load_late()
    try:
        outcome = _audited(job).to_json()
    except FissileError as error:
        outcome = {"error": {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}}
    except BaseException as error:  # the caller turns it into one line and a reproducer
        refused = refused_by_system(error)
        outcome = {
            "error": {
                "message": refused.message if refused else f"{type(error).__name__}: {error}",
                "hint": refused.hint if refused else "",
                "exit_code": int(refused.exit_code if refused else ExitCode.INTERNAL),
                "traceback": traceback.format_exc(),
            }
        }
    leave_answer(Path(job["result"]), outcome)
    os._exit(0)  # to free what IREE has made takes longer than to end


def _audited(job: dict) -> Report:
    from fissile.passes import net
    from fissile.passes.analysis.legality.compiler import Outcome
    from fissile.passes.iree import library
    from fissile.passes.iree.legality.candidates import PASS_FLAGS

    from .entry import AuditJob, run_audit_here

    library.initialise_command_line(PASS_FLAGS)
    journal, at, at_work = Path(job["journal"]), Path(job["at"]), Path(job["translating"])
    lines = journal.read_text().splitlines() if journal.exists() else []
    known = {key: Outcome(**outcome) for key, outcome in map(json.loads, lines)}

    def begins(key: str, whole: bool) -> None:
        at.write_text(key)
        at_work.write_text("" if whole else f"1 asked {key}")

    def ended(key: str, outcome: Outcome) -> None:
        with open(journal, "a", encoding="utf-8") as file:
            file.write(json.dumps([key, asdict(outcome)]) + "\n")
        at.unlink(missing_ok=True)
        at_work.write_text("")

    targets = tuple((name, tuple(flags)) for name, flags in job["targets"])
    with net.spread(net.Net("", expendable=False)) as spread:
        report = run_audit_here(
            AuditJob(job["source"], targets, known=known, **job["options"]), begins, ended
        )
    return Report(
        report.command, (*report.findings, *spread.missed), facts=report.facts, seconds=report.seconds
    )


if __name__ == "__main__":
    sys.exit(main())
