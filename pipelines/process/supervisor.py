"""Runs a compile in a worker process and turns whatever happens to it into a report or an error with a way out."""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from fissile import wire
from fissile.errors import InternalError
from fissile.passes.failures.failure import Ending, failure_that_ends
from fissile.passes.iree.messages import LINKER_SAID
from fissile.passes.progress import ACTIVITY, NOTE, noted, noted_at
from fissile.report import Report
from fissile.shown_text import shown_lines

from ..cache.endless import known_endless, remember_endless
from ..cache.reports import KeptCompile
from ..compile.kept_temps import keep_temps, with_temps
from ..compile.request import STDIN_NAME, CompileRequest
from ..compile.request_files import check_artifacts, check_input
from ..compile.stepping_aside import command_of, compile_with_stock, hold_strictly, stands_in
from ..importers.imported import with_import
from ..native_programs import stock_compiler
from ..status import announce, is_listened, line_of
from .atomic_write import Place, deliver, place_of, staged
from .child import Child
from .deadline import CpuDeadline
from .job import CompileJob, Job, read_answer
from .phase_timeout import phase_timeout
from .scratch import scratch
from .worker_end import (
    WorkerEnd,
    ending_of,
    error_of,
    flag_error,
    messages_before,
    out_of_space,
    phase_not_ended,
    report_of,
    users_error,
    why_it_ended,
    with_room,
)

_LOOKING_SECONDS = 0.2
"""Between two looks at how far a worker is: its end is known at once. A look takes 0.5 ms of a processor."""
_SHORTEST_LOOK = 0.01
"""A limit of a dispatch that is shorter than `_LOOKING_SECONDS` is looked at as often as it is long, and not oftener than this."""
ENDING_SECONDS = 30.0
"""For a worker that has left its answer: IREE may print what it has counted; a thread of a user's pass may never end."""
NOT_ENDED = "a step of fissile's own did not end"


def run_compile(request: CompileRequest) -> Report:
    """Compiles in a worker. The output appears whole or not at all. Raises FissileError for what is no finding."""
    check_input(request)
    place = None if request.output == "-" else place_of(request.output)
    request = check_artifacts(request)
    with (
        scratch() as folder,
        nullcontext(folder / "output") if place is None else staged(place, folder) as output,
    ):
        request = request.read_from_pipe(folder)
        report = with_import(
            request.input,
            folder,
            request.task,
            lambda model: _answered(request, folder, output, model.program if model else None),
            request.repair != "off",
            "--repair=suggest: nothing was changed; --repair=auto applies it"
            if request.repair == "suggest"
            else "",
        )
        keep_temps(request.save_temps, folder)
        if request.strict:
            hold_strictly(report, command_of(request))
        if report.output:
            _deliver(output, place)
        return report


def _explained(request: CompileRequest, folder: Path, output: Path, program: Path | None) -> Report:
    """`_in_worker`, with the ops to blame where IREE refuses the program: only then is an audit run."""
    report = _in_worker(request, folder, output, program)
    if request.inner or request.task != "compile" or not report.errors:
        return report
    from ..audit.after_refusal import explained

    spooled = program is None and request.input == "-"
    return explained(
        report,
        str(program or (folder / "stdin" if spooled else request.input)),
        [("", request.flags)],
        name=request.name or (STDIN_NAME if spooled else ""),
        start=request.compile_from,
        dispatch_timeout=request.dispatch_timeout,
        time_limit=request.time_limit,
        allow_pipelines=request.allow_pipelines,
    )


def run_stock(request: CompileRequest) -> int:
    """Hands the command line to stock iree-compile unchanged; returns its exit status."""
    with (
        scratch() as folder,
        Child([stock_compiler(), *request.argv], folder, stdin=None, stdout=None, stderr=None) as child,
    ):
        status = child.wait()
        assert status is not None  # no limit of time
        return status


def run_job(
    job: Job,
    folder: Path,
    time_limit: float = 0.0,
    dispatch_timeout: float = 0.0,
    worker: str = "fissile.pipelines.process.worker",
) -> WorkerEnd:
    """Runs the module ``worker`` on ``job`` in its own process group, and ends the group with it, come what may.

    ``time_limit`` seconds for all of it; `phase_timeout` for each step that it notes; ``dispatch_timeout`` seconds (`CpuDeadline`)
    per dispatch once translation has begun, shared by the cores that there are. 0 is no limit.
    """
    job.file.write_bytes(wire.encode(job))
    errors = folder / "stderr"
    cores = max(1, len(os.sched_getaffinity(0)))
    at_work, deadline = job.translating, time.monotonic() + time_limit if time_limit else math.inf
    limit, reported_at, timed_out = None, 0, False
    phase_limit = phase_timeout(job.reads)
    step_at, step_limit = 0, None
    look_every = max(_SHORTEST_LOOK, min(dispatch_timeout or math.inf, _LOOKING_SECONDS))
    ending: CpuDeadline | None = None
    for name in (NOTE, ACTIVITY):
        (folder / name).unlink(missing_ok=True)
    with (
        errors.open("wb") as sink,
        Child.worker(worker, job.file, folder, sink, job.may_be_forked) as child,
    ):
        child.runs_users_code = job.runs_users_code
        while (status := child.wait(look_every)) is None:
            count, _repairing, _fingerprint = translating(at_work)
            if not count:
                limit = None
            elif dispatch_timeout and at_work.stat().st_mtime_ns != reported_at:
                reported_at = at_work.stat().st_mtime_ns
                limit = CpuDeadline(child.pid, dispatch_timeout * math.ceil(count / cores))
            if phase_limit and (began := noted_at(folder)) != step_at:
                step_at, step_limit = began, CpuDeadline(child.pid, phase_limit) if began else None
            if ending is None and job.result.exists():
                ending = CpuDeadline(child.pid, ENDING_SECONDS)
            if ending is not None and ending.is_over:
                step_over, status = False, 0
                break
            if is_listened():
                announce(line_of(folder, count, dispatch_timeout, phase_limit))
            step_over = limit is None and step_limit is not None and step_limit.is_over
            if step_over or time.monotonic() > deadline or limit is not None and limit.is_over:
                timed_out, status = True, 124
                break
        else:
            step_over = False
    answered = job.result.exists() and not timed_out
    if not answered and not timed_out and (refused := out_of_space(folder)):
        raise refused
    step = None if answered else noted(folder)
    return WorkerEnd(
        status, timed_out, errors.read_text(errors="replace"), step, phase_limit if step_over else 0.0
    )


def _answered(request: CompileRequest, folder: Path, output: Path, program: Path | None) -> Report:
    """An earlier run's answer, or a worker's, which is kept for later ones."""
    kept = KeptCompile(request, program, output)
    report = kept.recall()
    if report is None:
        report = _explained(request, folder, output, program)
        if request.save_temps:
            report = with_temps(report, request, folder, program)
        kept.keep(report)
    return report


def _in_worker(request: CompileRequest, folder: Path, output: Path, program: Path | None = None) -> Report:
    """The straight compile and what follows; where something takes the process along, another worker.

    Then the repair loop's probes run in separate processes; after a crash of the straight compile itself
    all probes do, and the straight compile is not tried again. ``program`` is what the input was imported as. A dispatch that did not end
    is not probed again.
    An error of fissile's own, or a crash that remains, is followed by a compile as stock does it (FIS903).
    """
    job = CompileJob(str(folder), request, str(output), str(program or ""))
    if program is None and request.input == "-":
        spooled = folder / "stdin"
        spooled.write_bytes(sys.stdin.buffer.read())
        job = replace(job, input=str(spooled))
    if not request.no_cache and (endless := known_endless(request.flags, request.dispatch_timeout)):
        job = replace(job, endless=tuple(endless))
    begin = time.monotonic()
    unexplained: Report | None = None
    while True:
        left = max(0.001, request.time_limit - (time.monotonic() - begin)) if request.time_limit else 0.0
        end = run_job(job, folder, left, 0.0 if job.unhurried else request.dispatch_timeout)
        if end.step is not None and end.step.users:
            raise users_error(end, command_of(request))
        if end.phase_limit:
            if not _may_step_aside(job, request):
                return report_of(job, end, request)
            job = replace(job, bare=phase_not_ended(end))
            _clear(job, output)
            continue
        try:
            report = _outcome(job, end, request) or _target_unknown(job, end)
        except InternalError as error:
            if not _may_step_aside(job, request):
                return _by_stock(job, request, output, error)
            job = replace(job, bare=error.message)
            _clear(job, output)
            continue
        if report is not None:
            if not report.facts.get("unexplained") or not _may_step_aside(job, request):
                return report
            unexplained = report
            if report.facts["unexplained"] == failure_that_ends(Ending.TIMED_OUT).code:
                # No dispatch is to blame: from here on each phase has its limit.
                job = replace(job, ended="", unhurried=True)
            else:
                job = replace(job, bare=job.ended)
            _clear(job, output)
            continue
        if unexplained is not None:
            return unexplained
        if not job.started.exists() and not end.timed_out:
            raise flag_error(end)
        late = request.time_limit and time.monotonic() - begin >= request.time_limit
        if end.timed_out and job.ended and not (job.bare or job.translate or late):
            # What was repaired ends code generation, and not the translation behind it: each dispatch is translated from here on.
            _clear(job, output)
            job = replace(job, translate=True)
            continue
        if job.bare and not end.timed_out and not late:
            # Even the bare compile crashes; where iree-compile does not, it was fissile's session that did.
            with suppress(InternalError):
                return _by_stock(job, request, output, InternalError(job.bare))
        if job.bare or late or end.timed_out and job.ended or not job.started.exists():
            return report_of(job, end, request)
        count, repairing, fingerprint = translating(job.translating)
        _clear(job, output)
        if end.timed_out and fingerprint:
            job = replace(job, endless=(*job.endless, fingerprint))
            if not request.no_cache:
                remember_endless(request.flags, fingerprint, request.dispatch_timeout)
        if job.ended or end.status == -signal.SIGPROF:
            if not _may_step_aside(job, request):
                return report_of(job, end, request)
            over = end.status == -signal.SIGPROF
            job = replace(job, bare=NOT_ENDED if over else why_it_ended(end, request))
        elif count and repairing and not job.apart:
            job = replace(job, apart=True)
        else:
            job = replace(job, apart=True, ended=why_it_ended(end, request), ending=ending_of(end))


def _may_step_aside(job: CompileJob, request: CompileRequest) -> bool:
    return not job.bare and request.task == "compile"


def _by_stock(job: CompileJob, request: CompileRequest, output: Path, error: InternalError) -> Report:
    """The last resort: iree-compile's own answer. Raises ``error`` where that cannot stand for the requested result."""
    source = job.reads
    if not stands_in(request) or _brings_code(source, request):
        error.reproducer = error.reproducer or command_of(request)
        raise error
    report = compile_with_stock(stock_compiler(), request, source, output, error.message)
    if report is None:
        raise error
    return report


def _brings_code(source: str, request: CompileRequest) -> bool:
    """Whether the program may hold code that stock would run, and that is not allowed (FIS005, FIS006)."""
    if request.allow_pipelines:
        return False
    # IREE's bindings: only where fissile has failed
    from fissile.passes.analysis.program.embedded_pipelines import may_embed_pipelines
    from fissile.passes.analysis.program.native_code import may_hold_native_code

    program = Path(source).read_bytes()
    return may_embed_pipelines(program) or may_hold_native_code(program)


def _clear(job: CompileJob, output: Path) -> None:
    """Takes away what a worker has left, before another begins."""
    for file in (job.messages, job.translating, job.result):
        file.unlink(missing_ok=True)
    output.unlink(missing_ok=True)


def translating(file: Path) -> tuple[int, bool, str]:
    """How many dispatches the worker is translating, whether the repair loop requested them, and which, where it is one."""
    words = file.read_text().split() if file.exists() else []
    return (int(words[0]) if words else 0), "repairing" in words, words[2] if len(words) > 2 else ""


def _outcome(job: CompileJob, end: WorkerEnd, request: CompileRequest) -> Report | None:
    """What the worker reported; None where it did not come to that."""
    if end.timed_out or not job.result.exists():
        return None
    answer = read_answer(job.result.read_bytes())
    report = answer.report
    # What IREE prints itself: --mlir-print-ir-…, --mlir-timing, … What the linker missed is reported, or repaired.
    printed = re.sub(LINKER_SAID, "", end.errors) if report and not report.exit_code else end.errors
    if report:
        report = with_room(report, printed)
    if job.started.exists() and printed.strip() and not request.inner:
        sys.stderr.write("\n".join(shown_lines(printed)))
    if report is None:
        assert answer.error is not None
        raise error_of(answer.error, request)
    return report


def _target_unknown(job: CompileJob, end: WorkerEnd) -> Report | None:
    """FIS004 where IREE crashed over a device, an architecture or a CPU that it does not know: it says so before, to its
    diagnostics or to stderr."""
    if end.timed_out or not job.started.exists():
        return None
    from ..probe.diagnostics import failure_code, parse_diagnostic  # IREE's bindings: only where it crashed
    from ..repair.failures import NO_TARGET, no_target

    words = (
        text for text in (*messages_before(job), *_paragraphs(end.errors)) if failure_code(text) == NO_TARGET
    )
    text = next(words, None)
    return Report("compile", (no_target(parse_diagnostic("error", text)),)) if text else None


def _paragraphs(errors: str) -> list[str]:
    """Lines of stderr; a list stands in the line that it belongs to."""
    return re.sub(r"\.?\n(?=List of )", "; ", errors).splitlines()


def _deliver(output: Path, place: Place | None) -> None:
    if place is not None:
        deliver(output, place)
        return
    with output.open("rb") as source:
        shutil.copyfileobj(source, sys.stdout.buffer)
    sys.stdout.buffer.flush()
