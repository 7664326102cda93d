"""`fissile audit`: every op of a program that IREE cannot compile, in one run, before code is generated for the program."""

from __future__ import annotations

import argparse
import shlex
import sys

from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.cli.terminal import print_text, view_on
from fissile.pipelines.report.view import View


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no finding."""
    from fissile.errors import UsageError

    output = ReportOutput(args.format, args.report_file)
    if not args.target:
        raise UsageError("no target to audit for", "--target gfx942; `fissile targets` lists them")
    if args.dispatch_timeout < 0:
        raise UsageError("--dispatch-timeout takes a number of seconds", "0 is no limit")
    try:
        flags = shlex.split(args.iree_flags)
    except ValueError as error:
        raise UsageError(f"--iree-flags: {error}") from None
    from fissile.pipelines.audit.command import audit_command

    with progress_shown(args.verbose, args.quiet):
        report = audit_command(
            args.model,
            args.target,
            flags,
            command=_again(args),
            strict=args.strict,
            reproducers=args.reproducers,
            dispatch_timeout=args.dispatch_timeout,
            allow_pipelines=args.allow_pipelines,
            every_op=args.verbose,
        )
    if args.strict:
        from fissile.pipelines.compile.stepping_aside import hold_strictly

        hold_strictly(report, _again(args))
    from fissile.pipelines.report.audit_text import render_audit

    def text(view: View) -> str:
        return render_audit(report, args.model, view)

    output.write(
        report,
        int(report.exit_code),
        lambda: print_text(text(view_on(sys.stdout, args.verbose, args.quiet)), sys.stdout),
        lambda: text(View(verbose=args.verbose, quiet=args.quiet)),
    )
    return int(report.exit_code)


def _again(args: argparse.Namespace) -> str:
    """The command line that shows what could not be checked, with its traceback."""
    from fissile.pipelines.process.limits import limits_in_force

    words = ["--strict", args.model, *(word for name in args.target for word in ("--target", name))]
    words += [f"--iree-flags={args.iree_flags}"] if args.iree_flags else []
    return f"fissile audit {shlex.join([*words, *limits_in_force(())])}"
