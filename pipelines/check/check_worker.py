"""`fissile check` in a process of its own: a crash of the compiler ends this process and not the caller.

`run_check` is the caller's side; `python -m fissile.pipelines.check.check_worker JOB.json` the child's: the job file says what to
check and where the result goes. What the child is about to do stands in two files: the phase that IREE runs to, for which target
(`at`), and the dispatch that code is generated for (`translating`).
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import traceback
from functools import partial
from pathlib import Path

from fissile.errors import ExitCode, FissileError, UsageError
from fissile.finding import Finding, Severity, from_json, to_json
from fissile.passes.iree.late_imports import load_late
from fissile.report import Report

from ..process.entry import begin
from ..process.scratch import scratch
from ..process.supervisor import WorkerEnd, run_job, signal_name, translating


def run_check(source: str, targets: list[str], **options) -> Report:
    """`fissile.pipelines.check.entry.check` in a child process. Raises UsageError like check itself.

    A crash, and code that is generated without end, are findings; what is left to check another child does.
    """
    with scratch() as folder:
        job = {
            "source": source,
            "targets": targets,
            "options": options,
            "endless": [],
            "apart": False,
            "ended": {},
            **{name: str(folder / name) for name in ("result", "at", "translating")},
        }
        while True:
            end = run_job(job, folder, 0.0, options.get("dispatch_timeout", 0.0), __name__)
            if Path(job["result"]).exists() and not end.timed_out:
                return _outcome(json.loads(Path(job["result"]).read_text()), source)
            count, _asked, fingerprint = translating(Path(job["translating"]))
            target, phase = _read(Path(job["at"]))
            for name in ("at", "translating"):
                Path(job[name]).unlink(missing_ok=True)
            if end.timed_out and fingerprint:
                job["endless"].append(fingerprint)
            if count and not job["apart"] and phase != "end":
                job["apart"] = True  # it is found again in a process of its own, by dispatch
                continue
            if end.status > 0 and not phase or end.timed_out and phase != "end":
                said = [line for line in end.errors.splitlines() if line.strip()][-1:]
                return _failed(
                    "the checking process ended early" + (f": {said[0].strip()}" if said else ""),
                    source,
                    end.errors[-4000:],
                )
            finding = _crashed(end, source, target, phase)
            if not target or target in job["ended"]:
                return Report("check", (finding,), facts={"targets": [], "contract": {}})
            job["ended"][target] = to_json(finding)


def _read(file: Path) -> tuple[str, str]:
    """The target and the phase that the child was at; empty where it had not begun."""
    target, _, phase = (file.read_text() if file.exists() else "").partition("\t")
    return target, phase


def _outcome(outcome: dict, source: str) -> Report:
    if "error" not in outcome:
        return Report.from_json(outcome)
    error = outcome["error"]
    if error["exit_code"] == ExitCode.USAGE:
        raise UsageError(error["message"], error["hint"])
    return _failed(error["message"], source, error.get("traceback", ""))


def _failed(why: str, source: str, detail: str) -> Report:
    """FIS903: nothing is known of the program."""
    report_it = (
        f"report it, with what this prints: FISSILE_TRACEBACK=1 fissile check --strict {shlex.quote(source)}"
    )
    finding = Finding(
        "FIS903",
        f"the program could not be checked: {why}",
        Severity.ERROR,
        source,
        notes=(report_it,),
        detail=detail,
    )
    return Report("check", (finding,), facts={"targets": [], "contract": {}})


def _crashed(end: WorkerEnd, source: str, target: str, phase: str) -> Finding:
    if end.timed_out:
        return Finding(
            "FIS106",
            "the compiler does not end, although every dispatch by itself generates code",
            target=target,
            notes=(
                f"shows it again: iree-compile {shlex.quote(source)} -o /dev/null, with the flags of target {target}",
            ),
        )
    where = f" on the way to phase {phase}" if phase else ""
    again = f"--compile-to={phase}" if phase not in ("", "end") else "-o /dev/null"
    return Finding(
        "FIS107",
        f"the compiler crashed ({signal_name(end.status)}){where}",
        target=target,
        detail=end.errors[-4000:],
        notes=(
            f"shows it again: iree-compile {shlex.quote(source)} {again}"
            + (f", with the flags of target {target}" if target else ""),
        ),
    )


def main() -> int:
    begin()
    job = json.loads(Path(sys.argv[1]).read_text())
    load_late()
    try:
        from .entry import Watched, check

        at, at_work = Path(job["at"]), Path(job["translating"])
        watched = Watched(
            lambda target, phase: at.write_text(f"{target}\t{phase}"),
            partial(_tell, at_work) if job["options"].get("dispatch_timeout") and not job["apart"] else None,
            partial(_tell, at_work),
            tuple(job["endless"]),
            {name: from_json(finding) for name, finding in job["ended"].items()},
        )
        outcome = check(job["source"], job["targets"], watched=watched, **job["options"]).to_json()
    except FissileError as error:
        outcome = {"error": {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}}
    except Exception as error:  # the caller turns it into one line and a reproducer
        outcome = {
            "error": {
                "message": f"{type(error).__name__}: {error}",
                "hint": "",
                "exit_code": int(ExitCode.INTERNAL),
                "traceback": traceback.format_exc(),
            }
        }
    result = Path(job["result"])
    partial_file = result.with_suffix(".partial")
    partial_file.write_text(json.dumps(outcome))
    partial_file.rename(result)
    os._exit(0)  # to free what IREE has made takes longer than to end


def _tell(file: Path, dispatches: int, fingerprint: str = "") -> None:
    file.write_text(f"{dispatches} asked {fingerprint}" if dispatches else "")


if __name__ == "__main__":
    sys.exit(main())
