"""Has a cluster been without a worker for so long that none will come? Dask itself waits for one without end."""

from __future__ import annotations

import time
from collections.abc import Callable

VACANT_SECONDS = 120.0
"""Longer than a nanny takes to start its worker again, on a busy machine too."""
LOOK_SECONDS = 2.0
"""The scheduler is asked for its workers so often while nothing ends."""


class Vacancy:
    """Watches the number of workers that ``count`` gives; ``clock`` in seconds."""

    def __init__(self, count: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._count, self._clock = count, clock
        self._since: float | None = None
        self._looked = float("-inf")

    def lasts(self) -> bool:
        """Whether there has been no worker for `VACANT_SECONDS`, at each look since the first that found none."""
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return False
        self._looked = now
        try:
            found = self._count()
        except (
            OSError,
            TimeoutError,
        ):  # a scheduler that is gone is found elsewhere: Dask cancels what it had
            return False
        if found:
            self._since = None
        elif self._since is None:
            self._since = now
        return self._since is not None and now - self._since >= VACANT_SECONDS
