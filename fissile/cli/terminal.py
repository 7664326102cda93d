"""Prints reports and errors, with colour and in the terminal's width where a person is reading."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from fissile.cli.fitted_text import columns_of, fitted
from fissile.errors import FissileError
from fissile.pipelines.report.view import View
from fissile.report import Report

_STYLES = (
    (re.compile(r"^error(\[FIS\d+\])?:?"), "bold red"),
    (re.compile(r"^warning(\[FIS\d+\])?:?"), "bold yellow"),
    (re.compile(r"^repaired(\[FIS\d+\])?:?"), "bold green"),
    (re.compile(r"^(done|help):"), "bold green"),
    (re.compile(r"^note(\[FIS\d+\])?:"), "bold cyan"),
    (re.compile(r"^\s+(-->|:::)"), "blue"),
    (re.compile(r"^\s+= \w+"), "blue"),
    (re.compile(r"^\s+\|\s+\^+"), "bold red"),
    (re.compile(r"^\s+\|\s+-+"), "bold blue"),
    (re.compile(r"^manual pages?: "), "dim"),
)


def view_on(stream: TextIO, verbose: bool = False, quiet: bool = False) -> View:
    """The view of a report that is printed to ``stream``: as wide as the terminal, where that is one."""
    return View(columns_of(stream), verbose, quiet)


def print_report(report: Report, source: str = "", verbose: bool = False, quiet: bool = False) -> None:
    """``source`` is the input file, whose lines are quoted."""
    from fissile.pipelines.report.text import render

    print_text(render(report, source, view_on(sys.stderr, verbose, quiet)), sys.stderr)


def print_text(text: str, stream: TextIO) -> None:
    """Writes ``text`` to ``stream``; where that is a terminal, in its width and with headlines and marks in colour."""
    if not text:
        return
    if not stream.isatty():
        stream.write(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, soft_wrap=True, highlight=False)
    for line in fitted(text.rstrip("\n"), columns_of(stream)).split("\n"):
        styled = Text(line)
        for pattern, style in _STYLES:
            if match := pattern.match(line):
                styled.stylize(style, match.start(), match.end())
                break
        console.print(styled)


def print_error(error: FissileError, program: str = "fissile") -> int:
    """One line that says what is known, one that says what to do; returns the exit status."""
    from fissile.shown_text import shown, shown_lines

    lines = [f"{program}: error: {shown(error.message.strip())}"]
    if excerpt := getattr(error, "excerpt", ""):
        lines += [f"  {line}" for line in shown_lines(excerpt)]
    if error.hint:
        lines.append(f"{program}: {shown(error.hint)}")
    if (detail := getattr(error, "detail", "")) and os.environ.get("FISSILE_TRACEBACK"):
        lines += [shown(line) for line in detail.rstrip().splitlines()]
    if reproducer := getattr(error, "reproducer", ""):
        lines.append(f"{program}: shows it again: {shown(reproducer)}")
    text = "\n".join(lines)
    sys.stderr.write((fitted(text, columns_of(sys.stderr)) if sys.stderr.isatty() else text) + "\n")
    return int(error.exit_code)
