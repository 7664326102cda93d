"""The limits that every command takes, and that hold for all that it starts: `--memory-limit` and `--phase-timeout`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from . import memory_limit, phase_timeout

_BOTH = (memory_limit, phase_timeout)


@contextmanager
def limits_taken(words: list[str]) -> Iterator[list[str]]:
    """``words`` without these options, which hold within the block. Raises UsageError."""
    before = {limit.VARIABLE: os.environ.get(limit.VARIABLE) for limit in _BOTH}
    try:
        for limit in _BOTH:
            words = limit.take_option(words)
        yield words
    finally:
        for variable, value in before.items():
            if value is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value


def limits_in_force(words: Iterable[str]) -> list[str]:
    """The options to add to ``words``, so that the command shows the same elsewhere."""
    given = {word.partition("=")[0] for word in words}
    values = ((limit.OPTION, os.environ.get(limit.VARIABLE, "")) for limit in _BOTH)
    return [f"{option}={value}" for option, value in values if value and option not in given]
