"""The tests that `make test` leaves to `make test FULL=1` are tests that exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LISTED = (ROOT / "tests" / "costly_tests.txt").read_text(encoding="utf-8").splitlines()


def test_each_is_a_test():
    assert LISTED == sorted(set(LISTED))
    for test in LISTED:
        path, name = re.match(r"([^:]+)::(?:\w+::)?(\w+)", test).groups()
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


def test_ci_runs_them_too():
    assert "make test FULL=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_what_a_run_does_not_measure_stays_listed():
    costly = runpy.run_path(str(ROOT / "tools" / "costly_tests.py"))["costly"]
    costs = "2.50\ta::slow\n0.20\ta::quick\n3.00\ta::once_slow\n0.40\ta::once_slow\n9.00\ttests/py/test_lit.py::test_lit\n"
    assert costly(costs, ["a::quick", "b::other"]) == ["a::slow", "b::other"]
