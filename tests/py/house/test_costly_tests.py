"""The tests that `make test` leaves to `make test FULL=1` are tests that exist."""

from __future__ import annotations

import re
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
