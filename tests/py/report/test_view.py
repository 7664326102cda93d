"""A finding as a person sees it: as wide as the terminal, more with -v, less with -q."""

from __future__ import annotations

import io

import pytest

from fissile.cli import terminal
from fissile.finding import Finding, Help, Ledger, LedgerLine, Limit, Place, Severity
from fissile.pipelines.process.worker_end import meant
from fissile.pipelines.report.audit_text import render_audit
from fissile.pipelines.report.footprint_text import render_check
from fissile.pipelines.report.text import render, render_finding
from fissile.pipelines.report.untrusted_text import SourceLines
from fissile.pipelines.report.view import View
from fissile.quantity import Bytes
from fissile.report import Report

REPAIRED = Finding(
    "FIS101",
    "dispatch needs 851968 bytes of workgroup memory; gfx942 has 65536",
    Severity.REPAIRED,
    stock="function 'main_dispatch_0_conv_f32' uses 851968 bytes of shared memory",
    ledger=Ledger.of(
        [LedgerLine(Bytes.exact(851968), "%7 64x56x56xf32", "whole tensor, no tile reaches it")]
    ),
    limit=Limit(65536, "workgroup", "gfx942, IREE's target attribute; device not queried"),
    helps=(
        Help(
            "computed %7 in a separate dispatch, read it back by tile",
            applied=True,
            facts=(
                (
                    "costs",
                    "1 more dispatch in the module; 802816 bytes written once to global memory, then read",
                ),
                ("pass", "fissile-place-boundaries{ops=1}"),
            ),
        ),
    ),
    notes=(
        "a smaller tile cannot fix this: with no tile at all 802816 bytes remain, which is still too much",
    ),
)
NOTE = Finding("FIS140", "%xd computed again for every use", Severity.NOTE)
ERROR = Finding("FIS106", "the compiler does not end")
REPORT = Report("compile", (REPAIRED, NOTE), "model.vmfb")


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_lines_are_as_wide_as_the_terminal(columns):
    text = render(REPORT, "", View(columns))
    assert max(map(len, text.splitlines())) <= columns
    assert "".join(text.split()) == "".join(render(REPORT).split())


def test_without_a_terminal_a_sentence_is_one_line():
    assert "written once to global memory, then read\n" in render(REPORT)


def test_passes_are_shown_on_request_only():
    assert "fissile-place-boundaries{ops=1}" not in render(REPORT)
    assert "= pass     fissile-place-boundaries{ops=1}" in render(REPORT, "", View(verbose=True))


@pytest.mark.parametrize("rendered", [render, render_check, render_audit])
def test_quiet_leaves_errors_and_warnings(rendered):
    assert rendered(REPORT, "", View(quiet=True)) == ""
    text = rendered(Report("compile", (REPAIRED, ERROR)), "", View(quiet=True))
    assert "error[FIS106]" in text and "FIS101" not in text


@pytest.mark.parametrize("rendered", [render, render_check, render_audit])
def test_the_last_lines_lead_to_the_manual_and_count(rendered):
    pages, counts = rendered(REPORT, "", View()).splitlines()[-2:]
    assert pages == "manual pages: fissile explain FIS101 FIS140"
    assert counts.startswith("fissile: ")
    assert "explain" not in rendered(Report("check"), "", View())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_the_first_place_in_another_colour_than_the_second(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    terminal.print_text("     |  ^^^ here\n     |  --- there\n", stream)
    first, second = stream.getvalue().splitlines()
    assert first.split("m")[0] != second.split("m")[0] and "\x1b[" in first and "\x1b[" in second
    plain = io.StringIO()
    terminal.print_text("error[FIS101] x\n", plain)
    assert plain.getvalue() == "error[FIS101] x\n"


@pytest.mark.parametrize(
    "flag, llvm, hint",
    [
        ("--repare=auto", "--stats=auto", "--repair=auto"),
        ("--tagret=gfx942", "--arm-target=gfx942", "--target=gfx942"),
        ("--iree-hal-target-devce=hip", "--iree-hal-target-device=hip", "--iree-hal-target-device=hip"),
        ("--quite-another", "--enable-other", "list the flags"),
    ],
)
def test_a_typo_is_taken_for_an_option_of_fissile_or_iree_before_one_of_llvm(flag, llvm, hint):
    assert hint in meant(flag, llvm) and ("stats" not in meant(flag, llvm))


@pytest.mark.parametrize("column", [1, 5, 60, 80, 95, 200, 2500, 4996, 5000])
@pytest.mark.parametrize("columns", [60, 100])
def test_a_long_line_is_quoted_around_its_place(column, columns):
    line = ("".join(f" w{n:04d}" for n in range(1000))[1:]).ljust(5999, "x")
    finding = Finding("FIS202", "may not fit", places=(Place("m.mlir", 1, column, "here"),))
    text = render_finding(finding, SourceLines("m.mlir", line.encode()), View(columns))
    quoted, mark = text.splitlines()[-2:]
    at, end = mark.index("^"), mark.rindex("^") + 1
    wanted = line[column - 1 :]
    assert len(quoted) <= columns and quoted[at:end] == wanted[: end - at]
    assert ("… " in quoted[:12]) == (quoted[7:12] != line[:5])
    assert quoted.endswith(" …") == (not line.endswith(quoted[-5:]))


def test_standard_output_is_called_so():
    note = Finding("FIS202", "may not fit", Severity.NOTE)
    assert render(Report("compile", (note,), "-")).endswith("fissile: 1 note; wrote standard output\n")
    assert render(Report("compile", (note,), "m.vmfb")).endswith("; wrote m.vmfb\n")
