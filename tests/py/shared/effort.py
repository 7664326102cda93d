"""How much a test run tries: `make test` a sample of each sweep, `make test-all` the whole (`--slow`).

A long test is marked `slow`, with a quick test of the same capability beside it. A property has two numbers of drawn
programs: `@settings(max_examples=examples(5, 15))`.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "FISSILE_TESTS"
"""Environment variable; "all" is what `--slow` sets it to, for the test modules and the processes of xdist."""


def everything() -> bool:
    return os.environ.get(VARIABLE) == "all"


def examples(quick: int, all: int) -> int:
    """How many programs a property draws."""
    return all if everything() else quick


def sample(values, *quick):
    """The parameters ``values``, slow but for those that are ``quick``; a tuple is one set of parameters."""
    return [
        value
        if value in quick
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for value in values
    ]
