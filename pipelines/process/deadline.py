"""CPU deadline: how long another process may work on one thing, which does not depend on how busy the machine is."""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress

BUSY_FACTOR = 8
"""Where the kernel does not report how long a process waits for a processor: one that gets less than one part in so many does nothing."""


class CpuDeadline:
    """``seconds`` for process ``pid`` from now on: of processor time, or of the clock without the time that it waits for a processor.

    On a machine with other work a compile that ends takes longer by the clock; whether it counts as endless must not depend on that. A
    process that computes has ``seconds`` of a processor, one that waits for something else has ``seconds`` of the clock. Where
    processor time cannot be read (no /proc), the clock decides alone.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._seconds = seconds
        self._began = time.monotonic()
        self._used = processor_seconds(pid)
        self._last = queued_seconds(pid)
        self._queued = 0.0

    @property
    def is_over(self) -> bool:
        waited = time.monotonic() - self._began
        self._look()
        if waited < self._seconds or math.isinf(self._used):
            return waited >= self._seconds
        if processor_seconds(self._pid) - self._used >= self._seconds:
            return True
        if not self._last:
            return waited >= BUSY_FACTOR * self._seconds
        return waited - self._queued >= self._seconds

    def _look(self) -> None:
        """Adds what the thread that had to wait most for a processor has waited since the last look; one that has ended is not seen."""
        now = queued_seconds(self._pid)
        self._queued += max(
            (queued - self._last.get(thread, 0.0) for thread, queued in now.items()), default=0.0
        )
        self._last = now or self._last


def processor_seconds(pid: int) -> float:
    """Processor time of the process ``pid``, all its threads together; infinite where it cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def queued_seconds(pid: int) -> dict[int, float]:
    """For each thread of the process ``pid``: how long it was ready to run and had no processor. Empty where it cannot be read.

    The second number of `/proc/PID/task/TID/schedstat`, in nanoseconds (Linux, Documentation/scheduler/sched-stats).
    """
    queued: dict[int, float] = {}
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{pid}/task/{name}/schedstat", encoding="ascii") as file:
                    queued[int(name)] = int(file.read().split()[1]) / 1e9
    return queued
