"""The limits that every command takes, and that hold for all that it starts: `--memory-limit` and `--phase-timeout`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fissile.errors import UsageError

from . import memory_limit, phase_timeout

_BOTH = (memory_limit, phase_timeout)
_PARSED = {memory_limit.OPTION: memory_limit.parse_size, phase_timeout.OPTION: phase_timeout.parse_seconds}
"""By option: what raises UsageError for a value that it cannot read."""


@contextmanager
def limits_taken(words: list[str]) -> Iterator[list[str]]:
    """``words`` without these options, which hold within the block. Raises UsageError."""
    before = {limit.VARIABLE: os.environ.get(limit.VARIABLE) for limit in _BOTH}
    try:
        yield _without_limits(words)
    finally:
        for variable, value in before.items():
            if value is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value


def _without_limits(words: list[str]) -> list[str]:
    """``words`` without the limits, which it sets: `--memory-limit=8G` or `--memory-limit 8G`, up to a `--`."""
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*rest, word, *left]
        name, equals, value = word.partition("=")
        limit = next((one for one in _BOTH if one.OPTION == name), None)
        if limit is None:
            rest.append(word)
            continue
        if not equals:
            if not left or left[0].startswith("--"):
                raise UsageError(f"{limit.OPTION} needs {limit.VALUE}", limit.WAY_OUT)
            value = left.pop(0)
        _PARSED[limit.OPTION](value)
        os.environ[limit.VARIABLE] = value
    return rest


def limits_in_force(words: Iterable[str]) -> list[str]:
    """The options to add to ``words``, so that the command shows the same elsewhere."""
    given = {word.partition("=")[0] for word in words}
    values = ((limit.OPTION, os.environ.get(limit.VARIABLE, "")) for limit in _BOTH)
    return [f"{option}={value}" for option, value in values if value and option not in given]


def with_limits(command: str) -> str:
    """``command``, a line for the shell that has no limits yet, with those that are in force."""
    return " ".join([command, *map(shlex.quote, limits_in_force(()))])
