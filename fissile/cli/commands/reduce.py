"""`fissile reduce`: a small program of its own that fails as a large one does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.errors import ExitCode, UsageError


def run(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    from fissile.pipelines.compile.request import parse_command_line
    from fissile.pipelines.process.supervisor import run_compile
    from fissile.pipelines.report.text import render
    from fissile.pipelines.report.view import View

    words, dispatch = _without_dispatch(argv)
    request = parse_command_line(words)
    if request.stock:
        raise UsageError("fissile reduce takes a program and iree-compile's flags for one compile")
    output = ReportOutput(
        request.format,
        request.report_file,
        "the reduced program" if request.output == "-" else "",
        source=request.input,
    )
    with progress_shown(f"reading {request.input}", request.verbose, request.quiet):
        report = run_compile(replace(request, task="reduce", dispatch=dispatch))
    report = replace(report, command="reduce")
    status = int(report.exit_code)
    if report.output:
        status = int(ExitCode.FINDINGS if report.facts["otherwise"] else ExitCode.CLEAN)
    output.write(
        report,
        status,
        lambda: _print(report, request),
        lambda: render(report, request.input, View(verbose=request.verbose, quiet=request.quiet)),
    )
    return status


def _without_dispatch(argv: Sequence[str]) -> tuple[list[str], str]:
    """``argv`` without `--dispatch=NAME` and `--dispatch NAME`, and the last name; empty without one."""
    rest, named, left = [], "", list(argv)
    while left:
        word = left.pop(0)
        option, equals, value = word.partition("=")
        if option not in ("-dispatch", "--dispatch"):
            rest.append(word)
        elif equals:
            named = value
        elif left:
            named = left.pop(0)
        else:
            raise UsageError("option '--dispatch' needs a value", "write --dispatch=NAME")
    return rest, named


def _print(report, request) -> None:
    from fissile.cli.terminal import print_report

    print_report(report, request.input, request.verbose, request.quiet)
    if report.output and not request.quiet:
        kept, of, otherwise = report.facts["kept"], report.facts["of"], report.facts["otherwise"]
        print(
            f"fissile: {kept} of {of} ops fail {'otherwise' if otherwise else 'in the same way'}",
            file=sys.stderr,
        )
