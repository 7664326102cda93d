"""`fissile support`: which ops on which element types a target takes, measured with small programs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial

from fissile.cli.progress import progress_shown
from fissile.cli.terminal import print_text


def run(args: argparse.Namespace) -> int:
    """Prints a table for each target; returns 0. Raises UsageError."""
    from fissile.errors import UsageError, closest

    if not args.target:
        raise UsageError("no target to measure for", "--target gfx942; `fissile targets` lists them")
    from fissile.passes.iree import version
    from fissile.pipelines.report.support_table import support_markdown, support_text
    from fissile.pipelines.support import kept
    from fissile.pipelines.support.all_programs import all_programs
    from fissile.pipelines.support.measure import measured
    from fissile.pipelines.targets import resolve_target

    for target in args.target:
        resolve_target(target)
    everything = list(all_programs())
    for given, known in (
        (args.op, {p.op for p in everything}),
        (args.element, {p.element for p in everything}),
    ):
        for name in given or ():
            if name not in known:
                raise UsageError(f"'{name}' is not in the support table", closest(name, sorted(known)))
    chosen = [
        one
        for one in everything
        if (not args.op or one.op in args.op) and (not args.element or one.element in args.element)
    ]
    if not chosen:
        raise UsageError("no op of these takes elements of these types")
    found = {}
    with progress_shown("reading what was measured before"):
        for target in dict.fromkeys(args.target):
            file = kept.file_for(target)
            known_cells = {} if args.again else kept.read(file, chosen)
            found[target] = measured(
                target, chosen, known_cells, kept.keeper(file, chosen), partial(_progress, target)
            )
    if args.format == "json":
        rows = [{"target": target, **asdict(cell)} for target, cells in found.items() for cell in cells]
        json.dump({"iree": version.installed(), "cells": rows}, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return 0
    made = support_markdown if args.format == "markdown" else support_text
    head = "## {}\n\n{}" if args.format == "markdown" else "{}\n\n{}"
    parts = [head.format(target, made(cells)) for target, cells in found.items()]
    print_text(f"IREE {version.installed()}\n\n" + "\n".join(parts), sys.stdout)
    return 0


def _progress(target: str, done: int, of: int) -> None:
    from fissile.pipelines.status import announce

    announce(f"{target}: {done} of {of} programs measured and kept")
