"""`fissile compile`: iree-compile, flag for flag, guarded."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.errors import UsageError


def run(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status. Raises FissileError for what is no finding."""
    from fissile.cli.program import standard_output_is_open
    from fissile.pipelines.compile.request import parse_command_line
    from fissile.pipelines.process.supervisor import run_compile, run_stock

    request = parse_command_line(argv)
    if request.stock:
        return run_stock(request)
    if request.output == "-" and not standard_output_is_open():
        raise UsageError("cannot write to standard output: it is closed", "name a file: -o FILE")
    output = ReportOutput(
        request.format,
        request.report_file,
        "the module" if request.output == "-" else "",
        request.page,
        request.input,
    )
    with progress_shown(f"reading {request.input}", request.verbose, request.quiet):
        report = run_compile(request)
    output.write(
        report, int(report.exit_code), lambda: _print(report, request), lambda: _text(report, request)
    )
    return int(report.exit_code)


def _text(report, request) -> str:
    from fissile.pipelines.report.text import render
    from fissile.pipelines.report.view import View

    return render(report, request.input, View(verbose=request.verbose, quiet=request.quiet))


def _print(report, request) -> None:
    from fissile.cli.terminal import print_report
    from fissile.shown_text import shown, shown_lines

    for message in report.messages if not request.quiet else ():
        print("\n  ".join(shown_lines(message)), file=sys.stderr)
    print_report(report, request.input, request.verbose, request.quiet)
    if request.verbose:
        for finding in report.findings:
            if finding.detail:
                detail = "\n  ".join(shown_lines(finding.detail))
                print(f"\nIREE on {shown(finding.subject or finding.code)}:\n  {detail}", file=sys.stderr)
        steps = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in report.seconds.items())
        print(f"fissile: {steps}", file=sys.stderr)
