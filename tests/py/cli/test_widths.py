"""What a person reads fits the terminal: 60, 80 and 200 columns, every command's help, tables, findings, errors."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

import pytest
from report_documents import HOSTILE, repaired_finding

from fissile.cli.command_line.table import COMMANDS
from fissile.cli.fitted_text import fitted
from fissile.cli.main import main
from fissile.cli.progress import one_line
from fissile.cli.terminal import print_report, print_text, view_on
from fissile.pipelines.report.footprint_text import render_check
from fissile.report import Report

WIDTHS = (60, 80, 200)
LONG_NAME = "quantised_convolution$async_dispatch_0_conv_256x54x54x64x3x3_f32"


class Terminal(io.StringIO):
    """A terminal without colours; COLUMNS says how wide it is."""

    def isatty(self) -> bool:
        return True


class Screen:
    def __init__(self, width: int) -> None:
        self.width = width

    def shows(self, work: Callable[[], object]) -> list[str]:
        """The lines that ``work`` prints."""
        terminal = Terminal()
        with redirect_stdout(terminal), redirect_stderr(terminal):
            work()
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).split("\n")


@pytest.fixture(params=WIDTHS)
def screen(request, monkeypatch):
    for name, value in (("COLUMNS", str(request.param)), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    return Screen(request.param)


def overlong(lines: list[str], width: int) -> list[str]:
    """Lines that are wider than the terminal though they have a place to break at."""
    return [line for line in lines if len(line) > width and " " in line.strip()]


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        *([name, "--help"] for name in COMMANDS),
        ["targets"],
        ["passes"],
        ["passes", "fissile-place-boundaries"],
        ["explain"],
        ["explain", "--strategies"],
    ],
    ids=" ".join,
)
def test_every_line_of_a_command_fits(words, screen):
    lines = screen.shows(lambda: main(words))
    assert len(lines) > 1 and overlong(lines, screen.width) == []


def test_a_manual_page_fits_but_for_its_programs(screen):
    prose = "\n".join(screen.shows(lambda: main(["explain", "FIS101"]))).partition("\nfails\n")[0].split("\n")
    assert len(prose) > 5 and overlong(prose, screen.width) == []


@pytest.mark.parametrize("name", ["%xd", "model.layers.0.attn", HOSTILE])
def test_findings_fit(name, screen):
    finding = repaired_finding(name).with_(stock=f"function '{LONG_NAME}' uses 910336 bytes of shared memory")
    lines = screen.shows(lambda: print_report(Report("compile", (finding,), "model.vmfb")))
    assert overlong(lines, screen.width) == []
    assert " ".join("\n".join(lines).split()).count("13.9 times the limit") == 1, "a word was lost"


def test_the_summary_of_a_check_fits(screen):
    row = {"name": LONG_NAME, "bytes": 910336, "fits": False, "code_generated": True}
    target = {"name": "gfx942", "limit": 65536, "per": "workgroup", "dispatches": [row]}
    report = Report("check", facts={"targets": [target]})
    lines = screen.shows(lambda: print_text(render_check(report, view=view_on(sys.stdout)), sys.stdout))
    assert overlong(lines, screen.width) == [] and LONG_NAME in "\n".join(lines)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "a-file-that-is-not-there.mlir", "--target=llvm-cpu"],
        ["compile", "--target=gfx924", __file__],
        ["chekc"],
    ],
    ids=" ".join,
)
def test_errors_fit(words, screen):
    lines = screen.shows(lambda: main(words))
    assert lines[0].startswith("fissile: error: ") and overlong(lines, screen.width) == []


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize(
    "line",
    [
        "word " * 60,
        "a  cell  " + "word " * 40,
        "     = stock    " + "word " * 40,
        "     | 3:1 node 3: " + "word " * 40,
        "     |            ^^^^^^ " + "word " * 40,
        " " * 30 + "word " * 40,
        "x" * 50 + " " + "y" * 50,
        f"     = stock    function '{LONG_NAME}' uses 910336 bytes",
    ],
)
def test_no_word_is_lost_or_broken(line, columns):
    parts = fitted(line, columns).split("\n")
    gutter = re.sub(r"^\s+\| ", "", line)
    words = " ".join(re.sub(r"^\s+\| ", "", part) for part in parts).split()
    assert words == gutter.split()
    assert all(len(part) <= columns or " " not in part.strip() for part in parts)


def test_a_line_that_fits_is_as_it_was():
    assert fitted("a  b\n  c\n", 80) == "a  b\n  c\n"


def test_a_broken_row_goes_on_under_its_last_cell():
    assert fitted("fis  name   " + "word " * 12, 40).split("\n")[1].startswith(" " * 12 + "word")


def test_progress_is_one_line_that_keeps_its_limit():
    line = one_line(f"dispatch 1 of 1 ({LONG_NAME}), limit 30 s", " (9 s)", 60)
    assert len(line) <= 58 and line.endswith(", limit 30 s (9 s)") and line.startswith("dispatch 1 of 1 (")
    assert one_line("phase flow", " (9 s)", 60) == "phase flow (9 s)"
