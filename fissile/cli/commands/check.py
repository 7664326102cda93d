"""`fissile check`: where every dispatch's on-chip bytes come from, for many targets."""

from __future__ import annotations

import argparse
from dataclasses import replace

from fissile.cli.many_targets import flags_of, show, strictly
from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput
from fissile.report import Report


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no
    finding."""
    from fissile.errors import UsageError
    from fissile.given_files import written_apart
    from fissile.target import parse_budget

    output = ReportOutput(args.format, args.report_file, page=args.page, source=args.model)
    if args.update_baseline and args.baseline:
        for option, file in (
            ("the input", args.model),
            ("--report-file", args.report_file),
            ("--report", args.page),
        ):
            written_apart(((option, file), ("--baseline", args.baseline)))
    budget = parse_budget(args.budget) if args.budget is not None else None
    if args.update_baseline and not args.baseline:
        raise UsageError("--update-baseline needs a file", "name it: --baseline FILE")
    flags, command = flags_of(args), strictly("check", args, _own(args))
    with progress_shown(f"reading {args.model}", args.verbose, args.quiet):
        from fissile.pipelines.check.check_worker import run_check  # what it loads takes a while

        report = run_check(
            args.model,
            args.target,
            command=command,
            budget=budget,
            flags=flags,
            probe=args.probe,
            dispatch_timeout=args.dispatch_timeout,
            baseline=args.baseline,
            update_baseline=args.update_baseline,
            memory=args.memory or bool(args.page),
            simulate=args.simulate,
            allow_pipelines=args.allow_pipelines,
            no_cache=args.no_cache,
        )
    from fissile.pipelines.report.footprint_text import render_check

    printed = report if args.memory else _without_memory(report)
    return show(args, output, report, command, lambda view: render_check(printed, args.model, view))


def _without_memory(report: Report) -> Report:
    """For the terminal where the bytes over time are gathered for the HTML report alone."""
    targets = [{k: v for k, v in one.items() if k != "memory"} for one in report.facts.get("targets", ())]
    return replace(report, facts=report.facts | {"targets": targets}) if targets else report


def _own(args: argparse.Namespace) -> list[str]:
    """The options that `check` alone has and that change what is found."""
    words = [f"--budget={args.budget}"] if args.budget else []
    words += ["--simulate"] if args.simulate else []
    return words + ([f"--probe={args.probe}"] if args.probe != "auto" else [])
