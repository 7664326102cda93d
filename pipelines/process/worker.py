"""The child process of `fissile compile`: `python -m fissile.pipelines.process.worker JOB.json PARENT`.

IREE's process-global flags are set once per process, and a crash or an endless loop of the compiler must not
take the caller along: so every compile has a process of its own. The job file names the request, the temporary output
and where the result goes. Exit status 0: a result was written, whatever it says.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fissile.errors import ExitCode, FissileError, InternalError, refused_by_system
from fissile.passes.iree.flags import TOLD_AT_EXIT
from fissile.passes.iree.late_imports import load_late

from ..compile.request import CompileRequest
from .entry import begin, leave_answer

if TYPE_CHECKING:
    from ..probe.diagnostics import Diagnostic


def main() -> int:
    begin()
    load_late()
    job = json.loads(Path(sys.argv[1]).read_text())
    leave_answer(Path(job["result"]), answer(job))
    if not _has_more_to_say(job["request"]):
        # To free what the compile has made, op by op, takes 0.2 s and more: the process is at its end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


def answer(job: dict) -> dict:
    """What the worker says of ``job``: a report, or an error with its exit code."""
    try:
        return {"report": _compile(job)}
    except FissileError as error:
        return {
            "error": {
                "message": error.message,
                "hint": error.hint,
                "exit_code": int(error.exit_code),
                "reproducer": getattr(error, "reproducer", ""),
            }
        }
    except BaseException as error:  # the caller turns it into one line and a reproducer
        if not isinstance(error, MemoryError) and (refused := refused_by_system(error)):
            return {
                "error": {
                    "message": refused.message,
                    "hint": refused.hint,
                    "exit_code": int(refused.exit_code),
                    "reproducer": "",
                }
            }
        return {
            "error": {
                "message": f"{type(error).__name__}: {error}",
                "hint": "",
                "reproducer": "",
                "exit_code": int(ExitCode.INTERNAL),
                "traceback": traceback.format_exc(),
            }
        }


def _has_more_to_say(request: dict) -> bool:
    """Whether IREE prints as the process ends, or passes of the user's own may have something to do then."""
    return bool(request["load_passes"]) or any(
        word in flag for flag in (*request["argv"], *request["flags"]) for word in TOLD_AT_EXIT
    )


def _compile(job: dict) -> dict:
    request = CompileRequest.from_json(job["request"])
    from fissile.passes.catalogue import load_user_passes
    from fissile.passes.iree.flags import PREPROCESSING_FLAG
    from fissile.passes.iree.library import initialise_command_line
    from fissile.passes.net import Net, spread
    from fissile.passes.progress import note_in

    from ..cache.store import leave_out
    from ..compile.compile_run import CompileRun
    from ..compile.guarded_compile import GuardedCompile
    from ..compile.stepping_aside import command_of, stepped_aside
    from ..pass_runner import uses_fissile_passes

    note_in(Path(job["result"]).parent)
    if request.no_cache:
        leave_out()
    for file in request.load_passes:
        load_user_passes(file)
    flags = list(request.flags)
    if request.preprocessing and not uses_fissile_passes(request.preprocessing):
        flags.append(f"--{PREPROCESSING_FLAG}={request.preprocessing}")
        request = CompileRequest.from_json(request.to_json() | {"preprocessing": ""})
    # From here on LLVM ends the process on a flag that it does not know; the caller reads why on stderr.
    initialise_command_line(flags)
    Path(job["started"]).touch()
    spooled = Path(job["input"]) if job.get("input") else None
    try:
        run = CompileRun(request, Path(job["output"]), spooled, Path(job["result"]).parent)
        run.session.on_error = partial(_leave, Path(job["said"]))
        translating = Path(job["translating"])

        def progress(dispatches: int, fingerprint: str = "") -> None:
            translating.write_text(f"{dispatches} straight {fingerprint}" if dispatches else "")

        def watch(dispatches: int, fingerprint: str = "") -> None:
            translating.write_text(f"{dispatches} asked {fingerprint}" if dispatches else "")

        watched = request.dispatch_timeout and not job.get("apart")
        compile_ = GuardedCompile(
            run,
            job.get("ended", ""),
            progress,
            watch if watched else None,
            job.get("endless", ()),
            "translate" in job,
        )
        with spread(Net(command_of(request), expendable=__name__ == "__main__")):
            if why := job.get("bare"):
                return compile_.bare(stepped_aside(request, why)).to_json()
            return (compile_.reduce() if request.task == "reduce" else compile_.run()).to_json()
    except MemoryError:
        raise InternalError("out of memory") from None


def _leave(file: Path, said: Sequence[Diagnostic]) -> None:
    """Writes IREE's errors down while there is time: after some of them it crashes (an unknown Vulkan target, IREE 3.13)."""
    partial_file = file.with_suffix(".partial")
    partial_file.write_text(json.dumps([d.text for d in said if d.is_error]))
    partial_file.replace(file)  # whole, if the crash comes now


if __name__ == "__main__":
    sys.exit(main())
