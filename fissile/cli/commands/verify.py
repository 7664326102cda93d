"""`fissile verify`: run two programs, or one against expected outputs or a NumPy function, and compare the numbers."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fissile.cli.command_line.checking import VERIFY
from fissile.cli.command_line.parser import parser_of
from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.cli.terminal import print_text, view_on
from fissile.errors import ExitCode, UsageError, closest
from fissile.given_files import written_apart
from fissile.pipelines.report.view import View
from fissile.report import Report

_IREE_FLAGS = ("--iree-", "--mlir-", "--torch-")
"""Flags that go to iree-compile as they are, for every program that is compiled."""


def _joined(argv: Sequence[str]) -> list[str]:
    """``argv`` with `--iree-flag value` as one word: a bare word behind such a flag is its value unless it may be a program, which is
    a file or has a suffix."""
    words: list[str] = []
    for word in argv:
        flag = words[-1] if words else ""
        takes_it = flag.startswith(_IREE_FLAGS) and "=" not in flag
        if takes_it and not word.startswith("-") and not Path(word).suffix and not Path(word).exists():
            words[-1] = f"{flag}={word}"
        else:
            words.append(word)
    return words


def run(argv: Sequence[str]) -> int:
    """Prints the certificate; returns the exit status. Raises UsageError for what the caller got wrong."""
    args, flags = parser_of(VERIFY).parse_known_args(_joined(argv))
    for flag in flags:
        if not flag.startswith(_IREE_FLAGS):
            known = [spelling for option in VERIFY.all_options for spelling in option.spellings]
            raise UsageError(
                f"unknown argument '{flag}'",
                closest(flag.split("=")[0], known) or "see fissile verify --help",
            )
    from fissile.passes.definition import PassFailed
    from fissile.pipelines.importers.imported import importable
    from fissile.pipelines.process.scratch import scratch

    if args.expected and not args.input:
        raise UsageError(
            "--expected needs the inputs that it was computed from", "give them with --input=FILE.npy"
        )
    if args.expected and args.reference:
        raise UsageError("--expected and --reference both say what is right", "give one of them")
    output = ReportOutput(args.format, args.report_file, page=args.page, source=args.first)
    for read in (args.second, *args.input, *args.expected):
        written_apart(
            (("an input", read or ""), ("--report-file", args.report_file), ("--report", args.page))
        )
    text = _refused_text
    with progress_shown(f"reading {args.first}", args.verbose, args.quiet), scratch() as folder:
        try:
            first = importable(Path(args.first), folder)
            second = importable(Path(args.second), folder) if args.second else None
        except PassFailed as refused:
            report = Report("verify", refused.findings)
            agrees = False
        else:
            certificate = _certificate(args, first, second, flags)
            report = Report("verify", certificate.findings, facts={"certificate": certificate.to_json()})
            agrees, text = certificate.agrees, partial(_text, certificate)
    status = int(ExitCode.CLEAN if agrees else ExitCode.FINDINGS)
    output.write(
        report,
        status,
        lambda: print_text(text(report, view_on(sys.stdout, args.verbose, args.quiet)), sys.stdout),
        lambda: text(report, View(verbose=args.verbose, quiet=args.quiet)),
    )
    return status


def _refused_text(report: Report, view: View) -> str:
    """The text of a report of a model that the importer refuses."""
    from fissile.pipelines.report.text import render

    return render(report, "", view)


def _certificate(args: argparse.Namespace, first: Path, second: Path | None, flags: Sequence[str]):
    from fissile.pipelines.numerics.inputs import Sizes
    from fissile.pipelines.numerics.tolerance import Tolerance
    from fissile.pipelines.numerics.verify import Options, verify

    return verify(
        first,
        second,
        inputs=[_load(Path(path)) for path in args.input] or None,
        expected=[_load(Path(path)) for path in args.expected] or None,
        reference=_reference(args.reference) if args.reference else None,
        options=Options(
            function=args.function,
            on=tuple(args.on),
            seeds=tuple(range(args.seeds)),
            sizes=Sizes.parse(args.sizes),
            ranges=dict(map(_range, args.range)),
            tolerance=Tolerance.parse(args.tolerance) if args.tolerance else None,
            flags=tuple(flags),
            run_timeout=args.timeout,
            allow_pipelines=args.allow_pipelines,
        ),
    )


def _text(certificate, report: Report, view: View) -> str:
    from fissile.pipelines.report.text import explained, finding_blocks
    from fissile.shown_text import shown

    lines = []
    if not view.quiet:
        lines += [
            f"ok: {shown(one.program)} on {shown(one.sentence)}" for one in certificate.checks if one.agrees
        ]
        lines += [f"skipped: {shown(skipped)}" for skipped in certificate.skipped]
    lines += finding_blocks(report, "", view)
    bad = sum(not check.agrees for check in certificate.compared)
    verdict = (
        certificate.sentence
        if certificate.agrees
        else f"{bad} of {len(certificate.compared)} runs do not agree"
        if certificate.compared or not certificate.checks
        else "nothing was compared: the program refuses every input"
    )
    if view.quiet and not lines:
        return ""
    return (
        "\n".join([*lines, *explained(report, view), f"{shown(certificate.subject)}: {shown(verdict)}"])
        + "\n"
    )


def _load(path: Path) -> np.ndarray:
    if path.exists() and not path.is_file():  # a pipe may never have an end
        raise UsageError(f"not a file: {path}", "write it with numpy.save")
    try:
        loaded = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", "name a file that exists"
        ) from None
    except (ValueError, EOFError):
        raise UsageError(f"{path} is not a .npy file of plain numbers", "write it with numpy.save") from None
    if not isinstance(loaded, np.ndarray):
        raise UsageError(f"{path} is an archive, not one array", "write each array with numpy.save")
    return loaded.astype(loaded.dtype.newbyteorder("="), copy=False)


def _reference(spelled: str) -> Callable[..., Any]:
    """The function of `FILE.py:FUNCTION`; what goes wrong in it is the file's, whatever it raises."""
    from fissile.passes.progress import running
    from fissile.passes.user_code import cause, execute, module_of

    file, _, name = spelled.rpartition(":")
    if not file or not name.isidentifier():
        raise UsageError(f"'{spelled}' names no function", "write --reference=FILE.py:FUNCTION")
    if not Path(file).is_file():
        raise UsageError(f"no such file: {file}", "write --reference=FILE.py:FUNCTION")
    module = module_of(file, "fissile_reference")
    try:
        with running(f"the import of {file}", users=True):
            execute(module)
    except BaseException as error:  # a user's file: any error is theirs to read, and sys.exit is one
        raise UsageError(f"{file} cannot be imported: {cause(error, file)}", "correct the file") from None
    function = getattr(module, name, None)
    if not callable(function):
        known = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        raise UsageError(f"{file} has no function '{name}'", closest(name, known))

    def called(*arrays: np.ndarray) -> Any:
        try:
            with running(f"the reference function {spelled}", users=True):
                return function(*arrays)
        except BaseException as error:
            raise UsageError(
                f"the reference function {spelled} failed: {cause(error, file)}",
                "it is called with one array per argument and returns the expected outputs",
            ) from None

    return called


def _range(spelled: str) -> tuple[int, tuple[float, float]]:
    try:
        argument, _, limits = spelled.partition("=")
        low, high = map(float, limits.split(":"))
        if not -math.inf < low <= high < math.inf:
            raise ValueError
        return int(argument), (low, high)
    except ValueError:
        raise UsageError(
            f"'{spelled}' is not a range", "write --range=ARGUMENT=LOW:HIGH, as in 0=-1:1"
        ) from None
