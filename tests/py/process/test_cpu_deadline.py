"""A compile counts as endless by its own processor time, not by how busy the machine is. No clock is waited for."""

from __future__ import annotations

import math
import os

import pytest

from fissile.pipelines.process import deadline
from fissile.pipelines.process.deadline import BUSY_FACTOR, CpuDeadline, processor_seconds


@pytest.fixture
def clocks(monkeypatch):
    """[the clock, the process's processor time], to be set."""
    now = [100.0, 5.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(deadline, "processor_seconds", lambda pid: now[1])
    return now


@pytest.mark.parametrize(
    "clock, processor, over",
    [
        (29, 29, False),  # both left
        (30, 30, True),  # a quiet machine
        (60, 15, False),  # half of a processor: it goes on
        (60, 30, True),
        (20, 40, False),  # several threads: the clock counts too
        (30 * BUSY_FACTOR, 1, True),  # it does nothing
    ],
)
def test_both_have_to_be_over(clocks, clock, processor, over):
    limit = CpuDeadline(1, 30.0)
    clocks[:] = [100.0 + clock, 5.0 + processor]
    assert limit.is_over is over


def test_without_processor_time_the_clock_decides(clocks):
    clocks[1] = math.inf
    limit = CpuDeadline(1, 30.0)
    clocks[0] += 29
    assert not limit.is_over
    clocks[0] += 1
    assert limit.is_over


def test_processor_time_of_this_process_grows_and_none_is_known_of_no_process():
    before = processor_seconds(os.getpid())
    while processor_seconds(os.getpid()) == before:
        pass
    assert processor_seconds(os.getpid()) > before and processor_seconds(2**22 + 1) == math.inf
