"""`fissile check` in a process of its own: a crash of the compiler ends this process and not the caller.

`run_check` is the caller's side; `python -m fissile.pipelines.check_worker` the child's: a job as JSON on
standard input, the report (or an error) as JSON on standard output.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys

from fissile.errors import ExitCode, InternalError, UsageError
from fissile.finding import Finding
from fissile.report import Report

from .iree.late_imports import load_late
from .isolated_python import module_command


def run_check(source: str, targets: list[str], **options) -> Report:
    """`fissile.pipelines.check.check` in a child process. A crash is a finding; raises FissileError like
    check itself."""
    job = json.dumps({"source": source, "targets": targets, "options": options})
    process = subprocess.Popen(
        module_command("fissile.pipelines.check_worker"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        answer, said = process.communicate(job)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if process.returncode < 0:
        return _crashed(signal.Signals(-process.returncode).name, said, source)
    try:
        outcome = json.loads(answer)
    except ValueError:
        last = [line for line in said.splitlines() if line.strip()][-1:]
        raise InternalError(
            "the checking process ended early" + (f": {last[0].strip()}" if last else ""),
            "",
            f"fissile check {shlex.quote(source)}",
        ) from None
    if "error" not in outcome:
        return Report.from_json(outcome)
    error = outcome["error"]
    if error["exit_code"] == ExitCode.USAGE:
        raise UsageError(error["message"], error["hint"])
    raise InternalError(error["message"], error["hint"], f"fissile check {shlex.quote(source)}")


def _crashed(how: str, said: str, source: str) -> Report:
    finding = Finding(
        "FIS107",
        f"the compiler crashed ({how}) while it formed the dispatches",
        detail=said,
        notes=(f"shows it again: iree-compile {shlex.quote(source)} --compile-to=executable-configurations",),
    )
    return Report("check", (finding,), facts={"targets": []})


def main() -> int:
    answers = os.fdopen(os.dup(1), "w")  # what IREE prints itself must not mix with the answer
    os.dup2(2, 1)
    job = json.load(sys.stdin)
    from fissile.errors import FissileError

    load_late()
    try:
        from .check import check

        outcome = check(job["source"], job["targets"], **job["options"]).to_json()
    except FissileError as error:
        outcome = {"error": {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}}
    except Exception as error:  # the caller turns it into one line and a reproducer
        outcome = {
            "error": {
                "message": f"{type(error).__name__}: {error}",
                "hint": "",
                "exit_code": int(ExitCode.INTERNAL),
            }
        }
    json.dump(outcome, answers)
    answers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
