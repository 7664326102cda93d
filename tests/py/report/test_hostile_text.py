"""Whatever a program, a file's name or an earlier report spells, no line of text is one that fissile did not mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from contract_shell import ADD, holds, shell

from fissile.finding import Finding, Place, Severity
from fissile.pipelines.report.audit_text import render_audit
from fissile.pipelines.report.footprint_text import render_check
from fissile.pipelines.report.formats import rendered
from fissile.pipelines.report.text import render
from fissile.pipelines.report.view import View
from fissile.report import Report
from fissile.shown_text import shown, shown_lines

EVIL = "\x1b[31m\nerror[FIS999] forged\n::error::forged\n##[error]forged\u202e\r\x9b\x07"
DISPATCH = {"name": "d", "bytes": 5, "formula": None, "certainty": "exact", "codegen": "generated", "place": "a.mlir:1:1", "fits": True,
            "code_generated": True, "doubts": ["a doubt"],
            "buffers": [{"bytes": None, "formula": "4*n", "value": "%x", "reason": "tile", "scales_with_tile": True}]}  # fmt: skip
UNKNOWN = DISPATCH | {"bytes": None, "formula": "4*n", "fits": None}
MEMORY = {"function": "main", "at": "a:1:1", "complete": True, "peak": 1, "bound": 1, "alive": [{"bytes": 1, "needed": True, "tensors": ["%a"]}],
          "over_time": [{"live": 1, "needed": 1, "op": "linalg.fill", "at": "a:1:1"}]}  # fmt: skip
TARGETS = [{"name": "gfx942", "limit": 65536, "per": "workgroup", "dispatches": [DISPATCH, UNKNOWN], "memory": [MEMORY]},
           {"name": "empty", "limit": 1, "per": "workgroup", "dispatches": []}]  # fmt: skip
CHECKED = {"targets": TARGETS, "contract": {"main": ["a condition"]}}
AUDITED = {"audit": [{"target": "gfx942", "compiles": False, "rest_compiles": False, "ops": [{"count": 1}],
                      "handled": [{"count": 1, "op": "a.op", "pass": "a-pass"}]}], "reproducers": [{"file": "f", "op": "o"}]}  # fmt: skip
WORDS_OF_FISSILE = {"exact", "workgroup"}


def hostile(value: Any) -> Any:
    """``value`` with every text that is not one of fissile's own words spelled by an enemy."""
    if isinstance(value, dict):
        return {name: hostile(one) for name, one in value.items()}
    if isinstance(value, list):
        return [hostile(one) for one in value]
    return EVIL if isinstance(value, str) and value not in WORDS_OF_FISSILE else value


def forges_nothing(text: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in text), text
    for line in text.splitlines():
        assert not line.startswith("error[FIS999]") and not line.lstrip().startswith("::error"), line
        assert "##[" not in line, line


@pytest.mark.parametrize("verbose", [False, True])
def test_no_fact_of_a_check_or_an_audit_forges_a_line(verbose):
    view = View(verbose=verbose)
    forges_nothing(render_check(Report("check", facts=hostile(CHECKED)), "", view))
    forges_nothing(render_audit(Report("audit", facts=hostile(AUDITED)), "", view))
    plain = render_check(Report("check", facts=CHECKED), "", view)
    assert "gfx942: 1 of 2 dispatches fit" in plain and "(d)" in plain


@pytest.mark.parametrize("columns", [0, 60])
def test_no_part_of_a_finding_forges_a_line(columns):
    found = Finding(
        "FIS101", EVIL, Severity.ERROR, EVIL, EVIL, (Place(EVIL, 1, 1, EVIL, EVIL),), notes=(EVIL,)
    )
    forges_nothing(render(Report("check", (found,), messages=(EVIL,)), "", View(columns)))
    for form in ("json", "sarif", "github"):
        text = rendered(Report("check", (found,)), form, 1)
        assert "##[" not in text and "\x1b" not in text
        if form != "github":
            json.loads(text)
    assert json.loads(rendered(Report("check", (found,)), "json", 1))["findings"][0]["message"] == EVIL


def test_a_line_is_no_command_of_github_actions():
    assert shown_lines("a\n  ::error::x\nb::c") == ["a", r"  \x3a:error::x", "b::c"]
    assert shown("// ##[error]x") == r"// ##\x5berror]x"
    assert shown("#[a] ## b") == "#[a] ## b"


def test_a_symbol_of_the_program_forges_no_line_of_a_check(tmp_path):
    symbol = r'@"\1B[31m\0Aerror[FIS999] forged\0A::error::forged"'
    (tmp_path / "in.mlir").write_text(ADD.replace("@main", symbol))
    ended = shell("fissile check in.mlir --target gfx942 --memory -v", tmp_path)
    holds(ended, 0)
    forges_nothing(ended.stdout)
    assert r"\x1b[31m" in ended.stdout
