"""CPU deadline: how long another process may work on one thing, which does not depend on how busy the machine is."""

from __future__ import annotations

import math
import os
import time

BUSY_FACTOR = 8
"""A process that gets less of a processor than one part in so many counts as one that waits for nothing."""
IDLE_SHARE = 0.005
"""Of a processor: what gets less does not compete for it."""


class CpuDeadline:
    """``seconds`` for process ``pid`` from now on: of the clock, and of processor time.

    On a machine with other work a compile that ends takes longer by the clock; whether it counts as endless must not
    depend on that. One that hardly uses a processor (IDLE_SHARE) has only the clock's. Where processor time cannot be read
    (no /proc), the clock decides alone.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._seconds = seconds
        self._began = time.monotonic()
        self._used = processor_seconds(pid)

    @property
    def is_over(self) -> bool:
        waited = time.monotonic() - self._began
        if waited < self._seconds or math.isinf(self._used):
            return waited >= self._seconds
        used = processor_seconds(self._pid) - self._used
        return waited >= BUSY_FACTOR * self._seconds or not IDLE_SHARE * waited < used < self._seconds


def processor_seconds(pid: int) -> float:
    """Processor time of the process ``pid``, all its threads together; infinite where it cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
