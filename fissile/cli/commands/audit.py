"""`fissile audit`: every op of a program that IREE cannot compile, in one run, before code is generated for the program."""

from __future__ import annotations

import argparse

from fissile.cli.many_targets import flags_of, show, strictly
from fissile.cli.progress import progress_shown
from fissile.cli.report_output import ReportOutput


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no finding."""
    from fissile.errors import UsageError

    output = ReportOutput(args.format, args.report_file, source=args.model)
    if not args.target:
        raise UsageError("no target to audit for", "--target gfx942; `fissile targets` lists them")
    flags, command = flags_of(args), strictly("audit", args)
    with progress_shown(f"reading {args.model}", args.verbose, args.quiet):
        from fissile.pipelines.audit.command import audit_command  # what it loads takes a while

        report = audit_command(
            args.model,
            args.target,
            flags,
            command=command,
            strict=args.strict,
            reproducers=args.reproducers,
            dispatch_timeout=args.dispatch_timeout,
            allow_pipelines=args.allow_pipelines,
            every_op=args.verbose,
        )
    from fissile.pipelines.report.audit_text import render_audit

    return show(args, output, report, command, lambda view: render_audit(report, args.model, view))
