"""`bench.check_verdicts`: what the clock ended is no verdict, what runs out of processor time is one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import check_verdicts
from bench.check_verdicts import (
    CLEAN,
    DECLINED,
    FALSE_ALARM,
    FALSE_FITS,
    NOT_COMPARED,
    SAID,
    EndedByClock,
    judge,
    show,
)

PROGRAM = Path("model.mlir")
REFUSED = {
    "severity": "error",
    "effect": "refused",
    "code": "FIS101",
    "message": "too large",
    "target": "gfx942",
}
BUSY = "import signal, os; os.kill(os.getpid(), signal.SIGXCPU)"
CLOCK = "import sys; sys.exit(124)"


@pytest.mark.parametrize(
    ("builds", "found", "verdict"),
    [
        (True, [], CLEAN),
        (False, [REFUSED], SAID),
        (False, [], FALSE_FITS),
    ],
)
def test_a_verdict_is_stocks_answer_beside_checks(monkeypatch, builds, found, verdict):
    monkeypatch.setattr(check_verdicts, "checked", lambda *_: ({"gfx942": found}, 1.0))
    [row] = judge(PROGRAM, ["gfx942"], lambda _target: (builds, 1.0), "auto", 60.0)
    assert row["verdict"] == verdict


def ended_by_the_clock(*_arguments):
    raise EndedByClock("iree-compile was ended after 480 s")


@pytest.mark.parametrize("which", ["stock", "check"])
def test_what_the_clock_ended_is_not_compared(monkeypatch, capsys, which):
    checked = ended_by_the_clock if which == "check" else lambda *_: ({"gfx942": []}, 1.0)
    builds = ended_by_the_clock if which == "stock" else lambda _target: (True, 1.0)
    monkeypatch.setattr(check_verdicts, "checked", checked)
    rows = judge(PROGRAM, ["gfx942"], builds, "auto", 60.0)
    assert [row["verdict"] for row in rows] == [NOT_COMPARED]
    assert show(rows)  # no verdict is false
    assert "not compared: model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "builds", "verdict"),
    [
        ("exit 2 the module already contains executables", False, DECLINED),
        ("exit 2 the module already contains executables", True, DECLINED),
        ("exit 3 Traceback", True, FALSE_ALARM),
        ("exit 3 Traceback", False, FALSE_FITS),
    ],
)
def test_what_check_declines_is_no_verdict(monkeypatch, answer, builds, verdict):
    monkeypatch.setattr(check_verdicts, "checked", lambda *_: (answer, 1.0))
    [row] = judge(PROGRAM, ["gfx942"], lambda _target: (builds, 1.0), "auto", 60.0)
    assert row["verdict"] == verdict
    assert show([row]) == (verdict == DECLINED)


def test_the_clock_and_the_processor_are_told_apart():
    ended, _used = check_verdicts.processor_seconds([sys.executable, "-c", BUSY], 60)
    assert ended is None
    with pytest.raises(EndedByClock):
        check_verdicts.processor_seconds([sys.executable, "-c", CLOCK], 60)
    ended, _used = check_verdicts.processor_seconds([sys.executable, "-c", "print(7)"], 60)
    assert (ended.returncode, ended.stdout) == (0, "7\n")
