"""Each promise of SECURITY.md names the tests that hold it, and they are there."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| ([^|]+) \| .* \| ([^|]+) \|$", (TESTS.parents[1] / "SECURITY.md").read_text(), re.MULTILINE
)
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_each_promise_is_held_by_tests_that_exist():
    promises = [row for row in ROWS if row[0] not in ("promise", "---")]
    assert len(promises) >= 8
    for promise, tests in promises:
        assert NAMED.findall(tests), promise
        for file, name in NAMED.findall(tests):
            defined = [
                node.name
                for node in ast.parse((TESTS / file).read_text()).body
                if isinstance(node, ast.FunctionDef)
            ]
            assert name in defined, (promise, file, name)
