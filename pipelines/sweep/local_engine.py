"""Runs the cells of a sweep on the cores of this machine, at most the requested number at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from .attempt import Attempt, Limits
from .cells import Cell
from .outcome import Outcome

_POLL_SECONDS = 0.05


def run_here(
    cells: Sequence[Cell], jobs: int, limits: Limits, keep_modules: bool
) -> Iterator[tuple[Cell, Outcome, bytes]]:
    """Each cell with its outcome and module, as they end. What still runs is ended when the caller stops asking."""
    waiting = list(reversed(cells))
    running: list[Attempt] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Attempt(waiting.pop(), limits))
            ended = [(attempt, outcome) for attempt in running if (outcome := attempt.poll()) is not None]
            for attempt, outcome in ended:
                module = attempt.module() if keep_modules else b""
                running.remove(attempt)
                attempt.__exit__(None, None, None)
                yield attempt.cell, outcome, module
            if not ended:
                time.sleep(_POLL_SECONDS)
    finally:
        for attempt in running:
            attempt.__exit__(None, None, None)
