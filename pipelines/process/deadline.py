"""CPU deadline: how long another process may work on one thing, which does not depend on how busy the machine is."""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress

BUSY_FACTOR = 8
"""Where the kernel does not report how long a process waits for a processor: one that gets less than one part in so many does nothing."""


class CpuDeadline:
    """``seconds`` for process ``pid`` and its descendants from now on: of processor time, or of the clock without the time that it waits for a processor.

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
    """Processor time of the process ``pid`` and its descendants, all their threads together; infinite where it cannot be read.

    Fields 14 to 17 of `/proc/PID/stat` (proc_pid_stat(5)), in clock ticks: of the process, and of children that it has waited for.
    """
    ticks = 0
    for each in (pid, *_descendants(pid)):
        try:
            with open(f"/proc/{each}/stat", encoding="ascii", errors="replace") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
        except (OSError, ValueError):
            if each == pid:
                return math.inf
    return ticks / os.sysconf("SC_CLK_TCK")


def queued_seconds(pid: int) -> dict[int, float]:
    """For each thread of the process ``pid`` and its descendants: how long it was ready to run and had no processor.

    The second number of `/proc/PID/task/TID/schedstat`, in nanoseconds (Linux, Documentation/scheduler/sched-stats). Empty where it cannot
    be read.
    """
    queued: dict[int, float] = {}
    for each in (pid, *_descendants(pid)):
        for thread in _threads(each):
            with suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{each}/task/{thread}/schedstat", encoding="ascii") as file:
                    queued[thread] = int(file.read().split()[1]) / 1e9
    return queued


def children_of(pid: int) -> list[int]:
    """The processes that ``pid`` has started, or was given; none where the kernel does not list them."""
    found: list[int] = []
    for thread in _threads(pid):
        with suppress(OSError, ValueError):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _descendants(pid: int) -> list[int]:
    found = children_of(pid)
    return found + [further for child in found for further in _descendants(child)]


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []
