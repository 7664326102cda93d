"""What follows an error of fissile's own: the program as stock IREE compiles it, and FIS903; or, with --strict, exit status 3."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from fissile.errors import InternalError
from fissile.finding import Finding, Severity
from fissile.passes.iree.flags import PREPROCESSING_FLAG
from fissile.report import Report

from ..importers.recognise import recognised
from ..process.child import run_child
from ..process.limits import limits_in_force
from .request import CompileRequest

OWN_CODES = ("FIS902", "FIS903", "FIS008")
"""What --strict does not let pass. FIS902 with severity error is reported as such."""
_OPTION = "--strict"


def command_of(request: CompileRequest) -> str:
    """The command that shows a failure of fissile's again, with its traceback."""
    return "FISSILE_TRACEBACK=1 " + own_command(request, _OPTION)


def own_command(request: CompileRequest, *more: str) -> str:
    """fissile's command for ``request``, with the options ``more`` and every limit that is in force."""
    dispatch = [f"--dispatch={request.dispatch}"] if request.dispatch else []
    words = [*more, *dispatch, *(word for word in request.argv if word not in more)]
    return f"fissile {request.task} {shlex.join([*words, *limits_in_force(words)])}"


def stock_command(request: CompileRequest) -> str:
    """The command that shows what IREE does with ``request``: iree-compile's, or fissile's where iree-compile has no word for it,
    a limit that is in force for example."""
    limited = bool(limits_in_force(()))
    if limited or request.input == "-" or request.name or not stands_in(request) or recognised(request.input):
        return own_command(request)
    ends = [f"--compile-from={request.compile_from}"] if request.compile_from != "start" else []
    ends += [f"--compile-to={request.compile_to}"] if request.compile_to != "end" else []
    ends += [f"--{PREPROCESSING_FLAG}={request.preprocessing}"] if request.preprocessing else []
    return "iree-compile " + shlex.join([*request.flags, *ends, request.input, "-o", os.devnull])


def stepped_aside(request: CompileRequest, why: str, matched: bool = True) -> Finding:
    """FIS903: ``why`` is how fissile failed; ``matched`` whether --match-device was still obeyed, where it was given."""
    device = f"the target is not made to match the {request.match_device} device that is present"
    return Finding(
        "FIS903",
        f"fissile failed and compiled the program as stock IREE does, unchecked: {why}",
        Severity.WARNING,
        request.input,
        notes=(
            "no storage guard, no look at the dispatches and no repair",
            *([device] if request.match_device and not matched else []),
            f"report it, with what this prints: {command_of(request)}",
        ),
    )


def stands_in(request: CompileRequest) -> bool:
    """Whether iree-compile itself can do what ``request`` says: a whole compile with no pass and no file of fissile's.

    Without --match-device it builds for the target as the flags name it; FIS903 says so.
    """
    from ..pass_runner import uses_fissile_passes  # IREE's bindings: only where fissile has failed

    own = request.pipelines_after or request.load_passes or request.emit_mlir or request.emit_tuning_spec
    return (
        request.task == "compile"
        and not own
        and (not request.preprocessing or not uses_fissile_passes(request.preprocessing))
    )


def compile_with_stock(
    program: str, request: CompileRequest, source: str, output: Path, why: str
) -> Report | None:
    """iree-compile's own answer, where fissile cannot even stand aside by itself; None where it is no answer either (a crash)."""
    words = _stock_words(request, source, output)
    ended = run_child([program, *words], request.time_limit or None, by_clock=True)
    if ended.status not in (0, 1):
        return None
    aside = stepped_aside(request, why, matched=False)
    if ended.status == 0 and output.exists():
        return Report("compile", (aside,), request.output)
    error_lines = (
        [line for line in ended.err.splitlines() if "error:" in line]
        or ended.err.splitlines()
        or ["iree-compile failed"]
    )
    refusal = Finding(
        "FIS002",
        f"IREE refuses the program: {error_lines[0].strip()}",
        subject=request.input,
        detail=ended.err[-4000:],
    )
    return Report("compile", (refusal, aside))


def _stock_words(request: CompileRequest, source: str, output: Path) -> list[str]:
    words = [
        *request.flags,
        f"--compile-from={request.compile_from}",
        f"--compile-to={request.compile_to}",
        f"--output-format={request.output_format}",
        source,
        "-o",
        str(output),
    ]
    if request.preprocessing:
        words.insert(0, f"--{PREPROCESSING_FLAG}={request.preprocessing}")
    if not request.verify_ir:
        words.insert(0, "--verify=false")
    return words + (["--emit-mlir-bytecode"] if request.mlir_bytecode else [])


def hold_strictly(report: Report, command: str) -> None:
    """Raises InternalError (exit status 3) for the first thing that fissile could not check, as --strict wants it."""
    for finding in report.findings:
        if finding.code in OWN_CODES:
            raise InternalError(
                finding.message,
                f"{_OPTION}: what is not checked is an error; without it the compile goes on",
                command,
                finding.detail,
            )
