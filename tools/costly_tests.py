"""Writes tests/costly_tests.txt: the tests that `make test` leaves to `make test FULL=1`.

make test FULL=1 PYTEST_ADDOPTS=--cost-file=costs.txt
python tools/costly_tests.py costs.txt

A run of part of the tests will do: what it does not measure stays as it is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from pathlib import Path

SECONDS = 1.0
"""Of processor time, children included, with a part of what the fixtures took that it shares, whatever else the machine does. Nine of ten tests cost less, and a good third of the time in
all."""
ALWAYS = (
    "tests/py/test_lit.py::",
    "tests/py/test_layers.py::",
    "tests/py/test_lint.py::",
    "tests/py/networks/test_examples.py::",
)
"""The lit tests, the rules of the house, and the program that `make demo` runs."""
LIST = Path(__file__).resolve().parents[1] / "tests" / "costly_tests.txt"


def costly(costs: str, listed: Iterable[str] = ()) -> list[str]:
    """The tests of ``costs``, lines of seconds, tab and test, that are to be left out, and those ``listed`` that it does not measure.

    Of a test that was measured several times the least counts: what else the machine does makes it longer only.
    """
    least: dict[str, float] = {}
    for seconds, test in (line.split("\t", 1) for line in costs.splitlines()):
        least[test] = min(float(seconds), least.get(test, math.inf))
    found = {test for test, seconds in least.items() if seconds >= SECONDS and not test.startswith(ALWAYS)}
    return sorted(found | (set(listed) - least.keys()))


def main(path: str) -> None:
    listed = LIST.read_text(encoding="utf-8").splitlines()
    found = costly(Path(path).read_text(encoding="utf-8"), listed)
    LIST.write_text("".join(f"{test}\n" for test in found), encoding="utf-8")
    print(f"{len(found)} tests in {LIST.name}")


if __name__ == "__main__":
    main(sys.argv[1])
