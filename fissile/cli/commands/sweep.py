"""`fissile sweep`: compiles many models for many targets, and reports what changed since the last run."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from fissile.cli.fitted_text import print_fitted
from fissile.errors import UsageError
from fissile.given_files import written_apart
from fissile.shown_text import shown


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output, progress on standard error; returns the exit status. Raises FissileError."""
    from fissile.cli.sweep_progress import Progress
    from fissile.pipelines.process.atomic_write import place_of, write_atomically
    from fissile.pipelines.process.memory_limit import VARIABLE
    from fissile.pipelines.report.sweep_report import json_of, page_of, text_of
    from fissile.pipelines.sweep.attempt import Limits
    from fissile.pipelines.sweep.cells import broken_links
    from fissile.pipelines.sweep.entry import SweepRequest, run_sweep

    if not args.target:
        raise UsageError("no target to compile for", "--target gfx942; `fissile targets` lists them")
    if not args.out:
        raise UsageError("no folder for the results", "name one: --out results/")
    if args.page == "-":
        raise UsageError("--report does not write to standard output", "name a file: --report=FILE.html")
    for model in args.model:
        written_apart((("a model", model), ("--report", args.page)))
    if args.page:
        place_of(args.page)
    request = SweepRequest(
        models=tuple(args.model),
        targets=tuple(args.target),
        out=args.out,
        pythons=tuple(args.python),
        options=tuple(_words(text) for text in args.options),
        jobs=args.jobs,
        scheduler=args.scheduler,
        limits=Limits(args.timeout, os.environ.get(VARIABLE, "")),
        keep_modules=args.keep_modules,
        again=args.again,
    )
    for link in broken_links(args.model):
        print(f"fissile: skipped {shown(link)}: it is a link to a file that does not exist", file=sys.stderr)
    with Progress(args.out) as progress:
        sweep = run_sweep(request, progress.ended, progress.planned)
    status = int(sweep.exit_code(args.fail_on))
    if args.page:
        page = page_of(sweep)
        write_atomically(args.page, lambda partial: partial.write_text(page, encoding="utf-8"))
    if args.format == "json":
        sys.stdout.write(json_of(sweep, status))
    else:
        print_fitted(text_of(sweep))
    return status


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--options: {error}") from None
