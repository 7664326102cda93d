"""`fissile check` in a process of its own: a crash of the compiler ends this process and not the caller.

`run_check` is the caller's side; `python -m fissile.pipelines.check.check_worker JOB.json` the child's: the job file says what to
check and where the result goes. What the child is about to do stands in two files: the phase that IREE runs to, for which target
(`at`), and the dispatch that code is generated for (`translating`).
"""

from __future__ import annotations

import gc
import os
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from fissile import wire
from fissile.errors import ExitCode, UsageError
from fissile.finding import Finding, Severity
from fissile.passes.failures.failure import failure_that_ends
from fissile.passes.iree.late_imports import load_late
from fissile.passes.iree.targets import flags_for
from fissile.passes.progress import note_in
from fissile.report import Report

from ..cache.endless import known_endless, remember_endless
from ..cache.reports import KeptCheck
from ..cache.store import leave_out
from ..importers.imported import Imported, with_import
from ..process.entry import begin, error_in_words, leave_answer
from ..process.job import Answer, CheckJob, WorkerError
from ..process.limits import limits_in_force, with_limits
from ..process.scratch import scratch
from ..process.supervisor import run_job, translating
from ..process.worker_end import (
    WorkerEnd,
    ending_of,
    how_it_ended,
    phase_not_ended,
    system_ended,
    with_room,
    wrong_flag,
)
from ..targets import resolve_target


def run_check(
    source: str, targets: list[str], *, command: str = "", no_cache: bool = False, **options
) -> Report:
    """`fissile.pipelines.check.entry.check` in a child process. Raises UsageError like check itself.

    ``command`` shows a failure of fissile's again. A crash, and code that is generated without end, are findings; what is left
    to check another child does. A refusal of IREE's for the whole program is
    replaced by the ops that an audit blames. ``no_cache``: without answers of earlier runs.
    """
    with scratch() as folder:
        report = with_import(
            source,
            folder,
            "check",
            lambda model: _answered(source, targets, folder, command, model, no_cache, options),
            advice="`fissile compile` applies it",
        )
    return replace(report, facts={"targets": [], "contract": {}, **report.facts})


def _answered(
    source: str,
    targets: list[str],
    folder: Path,
    command: str,
    model: Imported | None,
    no_cache: bool,
    options: dict,
) -> Report:
    """An earlier run's answer, or a child's, which is kept for later ones."""
    kept = KeptCheck(str(model.program) if model else source, source, targets, options, no_cache)
    report = kept.recall()
    if report is None:
        report = _explained(source, targets, folder, command, model, no_cache, options)
        kept.keep(report)
    return report


def _explained(
    source: str,
    targets: list[str],
    folder: Path,
    command: str,
    model: Imported | None,
    no_cache: bool,
    options: dict,
) -> Report:
    """`_checked`, with the ops to blame in the place of what IREE says of the whole program."""
    report = _checked(source, targets, folder, command, model, no_cache, options)
    if not any(finding.severity is Severity.ERROR for finding in report.findings):
        return report
    from ..audit.after_refusal import explained  # slow to load

    flags = options.get("flags", ())
    return explained(
        report,
        str(model.program) if model else source,
        [(name, (*flags, *flags_for(resolve_target(name)))) for name in dict.fromkeys(targets)],
        dispatch_timeout=options.get("dispatch_timeout", 0.0),
        allow_pipelines=options.get("allow_pipelines", False),
    )


def _checked(
    source: str,
    targets: list[str],
    folder: Path,
    command: str,
    model: Imported | None,
    no_cache: bool,
    options: dict,
) -> Report:
    seconds = options.get("dispatch_timeout", 0.0)
    again = command or with_limits(f"fissile check --strict {shlex.quote(source)}")
    program = str(model.program) if model else source
    endless = () if no_cache else tuple(known_endless(options.get("flags", ()), seconds))
    job = CheckJob(str(folder), source, program, again, tuple(targets), options, endless, False, {}, no_cache)
    while True:
        end = run_job(job, folder, 0.0, seconds, __name__)
        if job.result.exists() and not end.timed_out:
            return with_room(_outcome(wire.decode(Answer, job.result.read_bytes()), job), end.errors)
        count, _repairing, fingerprint = translating(job.translating)
        target, phase = _read(job.at)
        for file in (job.at, job.translating):
            file.unlink(missing_ok=True)
        if end.timed_out and fingerprint:
            job = replace(job, endless=(*job.endless, fingerprint))
            if not no_cache:
                remember_endless(options.get("flags", ()), fingerprint, seconds)
        if count and not job.apart and phase != "end":
            job = replace(job, apart=True)  # it is found again in a process of its own, by dispatch
            continue
        if refused := system_ended(0 if end.timed_out else end.status, end.errors):
            raise refused
        if end.status > 0 and not phase and (wrong := wrong_flag(end)):
            raise wrong
        if end.status > 0 and not phase or end.timed_out and phase != "end" and not end.phase_limit:
            last = [line for line in end.errors.splitlines() if line.strip()][-1:]
            why = "the checking process ended early" + (f": {last[0].strip()}" if last else "")
            return _failed(why, job, end.errors[-4000:])
        finding = _crashed(end, job, target, phase)
        if not target or target in job.ended:
            return Report("check", (finding,), facts={"targets": [], "contract": {}})
        job = replace(job, ended=job.ended | {target: finding})


def _read(file: Path) -> tuple[str, str]:
    """The target and the phase that the child was at; empty where it had not begun."""
    target, _, phase = (file.read_text(encoding="utf-8") if file.exists() else "").partition("\t")
    return target, phase


def _outcome(answer: Answer, job: CheckJob) -> Report:
    if answer.report is not None:
        return answer.report
    error = answer.error or WorkerError("it had no answer")
    if error.exit_code == ExitCode.USAGE:
        raise UsageError(error.message, error.hint)
    return _failed(error.message, job, error.traceback)


def _stock_command(job: CheckJob, target: str, phase: str) -> str:
    """iree-compile's command line for one target, as far as ``phase`` where IREE was on the way there; with a limit in force fissile's."""
    ends = [] if phase in ("", "end") else [f"--compile-to={phase}"]
    flags = flags_for(resolve_target(target)) if target else []
    if limits_in_force(()):
        return job.command
    if job.program != job.source:
        return f"fissile check {shlex.quote(job.source)}" + (f" --target {target}" if target else "")
    return shlex.join(
        ["iree-compile", job.source, *job.options.get("flags", ()), *flags, *ends, "-o", os.devnull]
    )


def _failed(why: str, job: CheckJob, detail: str) -> Report:
    """FIS903: nothing is known of the program."""
    report_it = f"report it, with what this prints: FISSILE_TRACEBACK=1 {job.command}"
    finding = Finding(
        "FIS903",
        f"the program could not be checked: {why}",
        Severity.ERROR,
        job.source,
        notes=(report_it,),
        detail=detail,
    )
    return Report("check", (finding,), facts={"targets": [], "contract": {}})


def _crashed(end: WorkerEnd, job: CheckJob, target: str, phase: str) -> Finding:
    again = (f"shows it again: {_stock_command(job, target, phase)}",)
    code = failure_that_ends(ending_of(end)).code
    if end.timed_out:
        why = phase_not_ended(end) if end.phase_limit else "although every dispatch by itself generates code"
        return Finding(code, f"the compiler does not end: {why}", target=target, notes=again)
    where = f" on the way to phase {phase}" if phase else ""
    message = f"the compiler crashed ({how_it_ended(end.status)}){where}"
    return Finding(code, message, target=target, detail=end.errors[-4000:], notes=again)


def main() -> int:
    begin()
    gc.disable()  # as in the worker of a compile
    job = wire.decode(CheckJob, Path(sys.argv[1]).read_bytes())
    note_in(Path(job.folder))
    if job.no_cache:
        leave_out()
    load_late()
    leave_answer(job.result, answer(job))
    os._exit(0)  # to free what IREE has made takes longer than to end


def answer(job: CheckJob) -> Answer:
    """What the child says of ``job``: a report, or an error with its exit code."""
    try:
        return Answer(_check_here(job))
    except BaseException as error:  # the caller turns it into one line and a reproducer
        return Answer(error=error_in_words(error))


def _check_here(job: CheckJob) -> Report:
    if flags := job.options.get("flags", ()):
        from fissile.passes.iree.library import initialise_command_line, process_flags

        initialise_command_line(process_flags(flags))
    from .entry import check
    from .watched import Watched

    gc.freeze()
    gc.enable()

    watched = Watched(
        lambda target, phase: job.at.write_text(f"{target}\t{phase}"),
        partial(_write_progress, job.translating)
        if job.options.get("dispatch_timeout") and not job.apart
        else None,
        partial(_write_progress, job.translating),
        job.endless,
        job.ended,
    )
    return check(job.program, list(job.targets), watched=watched, **job.options)


def _write_progress(file: Path, dispatches: int, fingerprint: str = "") -> None:
    file.write_text(f"{dispatches} repairing {fingerprint}" if dispatches else "")


if __name__ == "__main__":
    sys.exit(main())
