"""Every rule's page shows a program that has the finding and a repaired one that has not: both are run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from planted_faults import compile_here, workers_here
from programs import run_program
from shown_settings import settled

from fissile.cli import opt
from fissile.cli.main import main
from fissile.passes.failures.failure import failures
from fissile.rules import RULES
from fissile.rules.shown import INPUT

SHOWN = {code: rule.shown for code, rule in RULES.items() if rule.shown is not None}


def reported(command: str, folder: Path, monkeypatch, here: bool = False) -> set[str]:
    """The codes that ``command`` reports. Of several lines, those before the last prepare its input. ``here``: workers run in
    this process, which a setting changes."""
    *before, last = command.splitlines()
    for line in before:
        subprocess.run([sys.executable, *shlex.split(line)[1:]], check=True, cwd=folder)
    program, *words = shlex.split(last)
    if words[0] == "compile":
        return {finding.code for finding in compile_here(monkeypatch, words[1:]).findings}
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    words += ["--format=json", f"--report-file={report}"]
    if program == "fissile-opt" and not any("--load" in word for word in words):
        status = opt.main(words)
    elif here:
        with workers_here(monkeypatch):
            status = main(words)
    else:
        status = run_program([program, *words], cwd=folder, capture_output=True).returncode
    assert status in (0, 1), f"{last} ended with {status}"
    return {finding["code"] for finding in json.loads(report.read_text())["findings"]}


def written(files: tuple[tuple[str, str], ...], program: str, folder: Path) -> None:
    for name, text in (*files, (INPUT, program)):
        (folder / name).write_text(text)


@pytest.mark.parametrize("code", sorted(SHOWN))
def test_the_page_of_a_rule_shows_the_finding_and_how_it_goes(code, tmp_path, monkeypatch, capfd):
    shown = SHOWN[code]
    monkeypatch.chdir(tmp_path)
    written(shown.files, shown.program, tmp_path)
    with settled(shown.setting):
        assert code in reported(shown.command, tmp_path, monkeypatch, here=bool(shown.setting))
    written(shown.repaired_files, shown.repaired or shown.program, tmp_path)
    assert code not in reported(shown.repaired_command or shown.command, tmp_path, monkeypatch)


def test_every_rule_that_no_failure_declares_is_shown():
    """The programs of a failure of a dispatch are run by tests/py/test_declared_failures.py."""
    declared = {one.code for one in failures()}
    assert [code for code in RULES if code not in declared and code not in SHOWN] == []
