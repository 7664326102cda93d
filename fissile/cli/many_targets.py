"""What `check` and `audit` do with the options that they share: one program, many targets, a report that may be strict."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence

from fissile.cli.report_output import ReportOutput
from fissile.cli.terminal import print_text, view_on
from fissile.errors import UsageError
from fissile.passes.iree.flags import one_word_each
from fissile.pipelines.report.view import View
from fissile.report import Report


def flags_of(args: argparse.Namespace) -> list[str]:
    """The flags of --iree-flags. Raises UsageError where they are none."""
    try:
        return one_word_each(shlex.split(args.iree_flags))
    except ValueError as error:
        raise UsageError(f"--iree-flags: {error}") from None


def strictly(command: str, args: argparse.Namespace, more: Sequence[str] = ()) -> str:
    """The line of ``command``, with ``more`` words, that shows what could not be checked, with its traceback."""
    from fissile.pipelines.process.limits import limits_in_force

    words = ["--strict", args.model, *(word for name in args.target for word in ("--target", name)), *more]
    words += [f"--iree-flags={args.iree_flags}"] if args.iree_flags else []
    return f"fissile {command} {shlex.join([*words, *limits_in_force(())])}"


def show(
    args: argparse.Namespace,
    output: ReportOutput,
    report: Report,
    command: str,
    render: Callable[[View], str],
) -> int:
    """Writes the report, with --strict only where everything was checked; returns the exit status."""
    if args.strict:
        from fissile.pipelines.compile.stepping_aside import hold_strictly

        hold_strictly(report, command)
    output.write(
        report,
        int(report.exit_code),
        lambda: print_text(render(view_on(sys.stdout, args.verbose, args.quiet)), sys.stdout),
        lambda: render(View(verbose=args.verbose, quiet=args.quiet)),
    )
    return int(report.exit_code)
