"""A finding with a code of the user's own: the worker that loads the passes knows its rule, and the process that reports it learns it."""

import json

import pytest
from contract_shell import ADD, LLVM_CPU, shell

from fissile.rules.rule import RULES, Rule, brought, receive

PASS = '''from dataclasses import dataclass
from typing import ClassVar

from fissile.finding import Finding, Severity
from fissile.passes.definition import Pass, register_pass
from fissile.rules.rule import define

define("MINE7", "my-rule", "a thing", what="A thing.", why="It is so.", remedy="Nothing.")


@register_pass
@dataclass(frozen=True)
class Mine(Pass):
    """Reports."""

    name: ClassVar[str] = "mine-report"

    def run(self, op, report):
        report(Finding("MINE7", "seen", Severity.NOTE))
'''
COMPILE = f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --load-passes=mine.py '--pipeline-after=input:builtin.module(mine-report)'"


@pytest.mark.parametrize("kind", ["text", "json", "sarif", "github"])
def test_a_compile_reports_it(tmp_path, kind):
    (tmp_path / "in.mlir").write_text(ADD)
    (tmp_path / "mine.py").write_text(PASS)
    done = shell(f"{COMPILE} --format={kind}", tmp_path)
    assert done.returncode == 0 and (tmp_path / "out").exists()
    assert "MINE7" in done.stdout + done.stderr
    if kind == "json":
        [finding] = json.loads(done.stdout)["findings"]
        assert (finding["code"], finding["severity"], finding["message"]) == ("MINE7", "note", "seen")


def test_its_page(tmp_path):
    (tmp_path / "mine.py").write_text(PASS)
    assert "A thing." in shell("fissile explain MINE7 --load-passes=mine.py", tmp_path).stdout
    unknown = shell("fissile explain MINE7", tmp_path)
    assert unknown.returncode == 2 and "--load-passes=FILE.py" in unknown.stderr


def test_only_rules_of_others_travel():
    receive([Rule("MINE8", "mine", "a thing", "what", "why", "remedy")])
    assert [one.code for one in brought(["FIS101", "MINE8", "MINE8"])] == ["MINE8"]
    receive(brought(["MINE8"]))
    del RULES._rules["MINE8"]
