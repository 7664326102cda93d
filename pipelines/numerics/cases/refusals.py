"""Inputs that a program refuses by one of its run-time checks: they are outside of what it is written for, and say nothing of its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import monotonic

from fissile.finding import Finding

_ASSERTION = re.compile(r"<vm>:\d+: FAILED_PRECONDITION; ")
"""How iree-run-module 3.13 prints an assertion that fails; errors of the runtime itself name a file in C."""
_GUARD = re.compile(_ASSERTION.pattern + "@[^:]+: ")
"""One of the storage guard's: its sentence begins with the function."""

_OTHERS = 16
_SECONDS = 60.0
_STEP = 1000
"""Between the seeds that are tried instead of one: they meet no seed of the command line."""


def refusal(outputs: object, answer: object) -> Finding | None:
    """The finding that quotes the check, where the program's ``outputs`` or the reference's ``answer`` is none but a refusal.

    The storage guard's checks stand in one of the two alone; a check of the program's own has to fail in both.
    """
    for one in (outputs, answer):
        if isinstance(one, Finding) and _GUARD.search(one.detail):
            return one
    if _fails(outputs) and (answer is None or _fails(answer)):
        return outputs if isinstance(outputs, Finding) else None
    return None


def _fails(answer: object) -> bool:
    return isinstance(answer, Finding) and bool(_ASSERTION.search(answer.detail))


def is_refusal(answer: object) -> bool:
    """Whether ``answer`` is a check of the program that failed, its own or the guard's."""
    return _fails(answer)


def other_seeds(seed: int) -> Iterator[int]:
    """Seeds to try where the inputs of ``seed`` are refused: a bounded number, for a bounded time."""
    start = monotonic()
    for number in range(1, _OTHERS + 1):
        if monotonic() - start > _SECONDS:
            return
        yield seed + _STEP * number
