"""What takes a check's process along is a finding of one target, and the others are checked by another process."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_programs import ADD
from tiled_programs import residual

from fissile.pipelines.check.check_worker import run_check
from fissile.pipelines.process.phase_timeout import VARIABLE

CRASHING = Path(__file__).parent / "crashing_check"


@pytest.fixture
def lost(monkeypatch, tmp_path):
    """Checks a program for gfx942 and llvm-cpu, where the compiler is lost over the first."""

    def checked(where: str, how: str, text: str):
        source = tmp_path / "p.mlir"
        source.write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(CRASHING))
        monkeypatch.setenv("CRASHING_WHERE", where)
        monkeypatch.setenv("CRASHING_HOW", how)
        monkeypatch.setenv(VARIABLE, "3")
        report = run_check(str(source), ["gfx942", "llvm-cpu"], dispatch_timeout=3.0)
        errors = [f for f in report.findings if f.severity.value == "error"]
        assert {f.target for f in errors} == {"gfx942"}, report.findings
        (checked_too,) = [t for t in report.facts["targets"] if t["name"] == "llvm-cpu"]
        assert checked_too["dispatches"], "the other target was checked"
        return errors[0]

    return checked


@pytest.mark.parametrize(
    ("where", "how", "text", "code", "words"),
    [
        ("forming", "hang", ADD, "FIS106", "within 3 s (--phase-timeout)"),
        (
            "forming",
            "abort",
            ADD,
            "FIS107",
            "crashed (SIGABRT) on the way to phase executable-configurations",
        ),
        ("generating", "hang", residual(128, 128), "FIS106", "did not end within 3 seconds"),
        ("generating", "abort", residual(128, 128), "FIS107", "code generation crashed (SIGABRT"),
    ],
)
def test_one_target_is_lost_and_the_others_are_checked(lost, where, how, text, code, words):
    finding = lost(where, how, text)
    assert finding.code == code and words in finding.message, finding
    again = [note for note in finding.notes if note.startswith("shows it again: ")]
    assert all("--phase-timeout=3" in note for note in again) and (again or where != "forming"), again
