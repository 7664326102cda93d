"""The child process of `fissile compile`: `python -m fissile.pipelines.process.worker JOB.json PARENT`.

IREE's process-global flags are set once per process, and a crash or an endless loop of the compiler must not
take the caller along: so every compile has a process of its own. The job file names the request, the temporary output
and where the result goes. Exit status 0: a result was written, whatever it says.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fissile import wire
from fissile.errors import InternalError
from fissile.passes.iree.late_imports import load_late, load_now
from fissile.rules.rule import brought

from .entry import begin, error_in_words, leave_answer
from .job import Answer, CompileJob
from .scratch import is_child

if TYPE_CHECKING:
    from fissile.report import Report

    from ..compile.request import CompileRequest
    from ..probe.diagnostics import Diagnostic


def main() -> int:
    begin()
    load_late()
    gc.disable()  # what is loaded stays: to look through it for garbage, again and again, is a tenth of the time
    job = wire.decode(CompileJob, Path(sys.argv[1]).read_bytes())
    leave_answer(job.result, answer(job))
    if job.may_be_forked:
        # To free what the compile has made, op by op, takes 0.2 s and more: the process is at its end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    gc.unfreeze()  # what is frozen is not freed at the end of a process, and IREE prints as it is
    return 0


def answer(job: CompileJob) -> Answer:
    """What the worker says of ``job``: a report, or an error with its exit code."""
    try:
        report = _compile(job)
        own = brought(one.code for one in report.findings) if job.request.load_passes else ()
        return Answer(report, rules=own)
    except BaseException as error:  # the caller turns it into one line and a reproducer
        return Answer(error=error_in_words(error))


def _compile(job: CompileJob) -> Report:
    request = job.request
    from fissile.passes.containment import Containment, containing
    from fissile.passes.iree.flags import PREPROCESSING_FLAG
    from fissile.passes.iree.library import initialise_command_line
    from fissile.passes.progress import note_in

    from ..cache.store import leave_out
    from ..compile.compile_run import CompileRun
    from ..compile.guarded_compile import GuardedCompile
    from ..compile.kept_temps import TASK, write_before_each_phase
    from ..compile.stepping_aside import command_of, stepped_aside

    note_in(Path(job.folder))
    if request.no_cache:
        leave_out()
    if request.load_passes:
        from fissile.passes.catalogue import load_user_passes

        load_now()
        for file in request.load_passes:
            load_user_passes(file)
    flags = list(request.flags)
    if request.preprocessing and not _uses_fissile_passes(request.preprocessing):
        flags.append(f"--{PREPROCESSING_FLAG}={request.preprocessing}")
        _check_preprocessing(flags)
        request = replace(request, preprocessing="")
    gc.freeze()
    gc.enable()
    # From here on LLVM ends the process on a flag that it does not know; the caller reads why on stderr.
    initialise_command_line(flags)
    job.started.touch()
    spooled = Path(job.input) if job.input else None
    try:
        leave = partial(_leave, job.messages)
        run = CompileRun(request, Path(job.output), spooled, Path(job.folder), leave)
        translating = job.translating

        def progress(dispatches: int, fingerprint: str = "") -> None:
            translating.write_text(f"{dispatches} straight {fingerprint}" if dispatches else "")

        def watch(dispatches: int, fingerprint: str = "") -> None:
            translating.write_text(f"{dispatches} repairing {fingerprint}" if dispatches else "")

        watched = request.dispatch_timeout and not job.apart
        with (
            containing(Containment(command_of(request), expendable=is_child())),
            _watching(request),
        ):
            if request.task == "reduce":
                from ..reduce.request import reduce

                return reduce(run)
            if request.task == TASK:
                return write_before_each_phase(run, progress)
            compile_ = GuardedCompile(
                run,
                job.ended,
                progress,
                watch if watched else None,
                job.endless,
                job.translate,
                job.ending,
            )
            if job.bare:
                return compile_.bare(stepped_aside(request, job.bare))
            return compile_.run()
    except MemoryError:
        raise InternalError("out of memory") from None


def _watching(request: CompileRequest) -> AbstractContextManager[None]:
    """With --verify-contracts, IREE's phases are watched for what the passes of the command line name."""
    if not request.verify_contracts:
        return nullcontext()
    from ..contracts import named_by, watching

    pipelines = [pipeline for _phase, pipeline in request.pipelines_after]
    return watching(named_by([*pipelines, *filter(None, [request.preprocessing])]))


def _uses_fissile_passes(pipeline: str) -> bool:
    from ..pass_runner import uses_fissile_passes

    return uses_fissile_passes(pipeline)


def _check_preprocessing(flags: Sequence[str]) -> None:
    from ..pass_runner import check_preprocessing

    check_preprocessing(flags)


def _leave(file: Path, received: Sequence[Diagnostic]) -> None:
    """Writes IREE's errors down while there is time: after some of them it crashes (an unknown Vulkan target, IREE 3.13)."""
    leave_answer(file, [d.text for d in received if d.is_error])  # whole, if the crash comes now


if __name__ == "__main__":
    sys.exit(main())
