"""`fissile check`: where every dispatch's on-chip bytes come from, for many targets."""

from __future__ import annotations

import argparse
import shlex
import sys

from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.cli.terminal import print_text, view_on
from fissile.pipelines.report.view import View


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no
    finding."""
    from fissile.errors import UsageError
    from fissile.target import parse_budget

    output = ReportOutput(args.format, args.report_file, page=args.page, source=args.model)
    budget = parse_budget(args.budget) if args.budget is not None else None
    if args.update_baseline and not args.baseline:
        raise UsageError("--update-baseline needs a file", "name it: --baseline FILE")
    if args.dispatch_timeout < 0:
        raise UsageError("--dispatch-timeout takes a number of seconds", "0 is no limit")
    try:
        flags = shlex.split(args.iree_flags)
    except ValueError as error:
        raise UsageError(f"--iree-flags: {error}") from None
    from fissile.pipelines.check.check_worker import run_check

    with progress_shown(args.verbose, args.quiet):
        report = run_check(
            args.model,
            args.target,
            command=_strictly(args),
            budget=budget,
            flags=flags,
            probe=args.probe,
            dispatch_timeout=args.dispatch_timeout,
            baseline=args.baseline,
            update_baseline=args.update_baseline,
            memory=args.memory or bool(args.page),
            allow_pipelines=args.allow_pipelines,
            no_cache=args.no_cache,
        )
    if args.strict:
        from fissile.pipelines.compile.stepping_aside import hold_strictly

        hold_strictly(report, _strictly(args))
    from fissile.pipelines.report.footprint_text import render_check

    def text(view: View) -> str:
        return render_check(report, args.model, view)

    output.write(
        report,
        int(report.exit_code),
        lambda: print_text(text(view_on(sys.stdout, args.verbose, args.quiet)), sys.stdout),
        lambda: text(View(verbose=args.verbose, quiet=args.quiet)),
    )
    return int(report.exit_code)


def _strictly(args: argparse.Namespace) -> str:
    """The command line that shows what could not be checked, with its traceback."""
    from fissile.pipelines.process.limits import limits_in_force

    words = ["--strict", args.model, *(word for name in args.target for word in ("--target", name))]
    words += [f"--budget={args.budget}"] if args.budget else []
    words += [f"--probe={args.probe}"] if args.probe != "auto" else []
    words += [f"--iree-flags={args.iree_flags}"] if args.iree_flags else []
    return f"fissile check {shlex.join([*words, *limits_in_force(())])}"
