"""A compile counts as endless by its own processor time, not by how busy the machine is. No clock is waited for."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from fissile.pipelines.process import deadline
from fissile.pipelines.process.deadline import BUSY_FACTOR, CpuDeadline, processor_seconds, queued_seconds


@pytest.fixture
def clocks(monkeypatch):
    """[the clock, the process's processor time, what its threads have waited for a processor], to be set."""
    now = [100.0, 5.0, {7: 2.0}]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(deadline, "processor_seconds", lambda pid: now[1])
    monkeypatch.setattr(deadline, "queued_seconds", lambda pid: now[2])
    return now


@pytest.mark.parametrize(
    "clock, processor, queued, over",
    [
        (29, 29, 0, False),  # both left
        (30, 30, 0, True),  # a quiet machine
        (60, 15, 45, False),  # a quarter of a processor: it goes on
        (9000, 29, 8971, False),  # a very busy machine
        (60, 30, 30, True),
        (20, 40, 0, False),  # several threads: the clock counts too
        (30, 1, 0, True),  # it waits for nothing that a processor could give
        (60, 1, 28, True),
    ],
)
def test_both_have_to_be_over(clocks, clock, processor, queued, over):
    limit = CpuDeadline(1, 30.0)
    clocks[:] = [100.0 + clock, 5.0 + processor, {7: 2.0 + queued}]
    assert limit.is_over is over


def test_the_wait_of_each_look_is_that_of_the_thread_that_waited_most(clocks):
    """Four threads that wait at the same time have not waited four times as long; what one waited that has ended is kept."""
    limit = CpuDeadline(1, 30.0)
    clocks[:] = [120.0, 5.5, {7: 2.0, 8: 15.0, 9: 15.0}]
    assert not limit.is_over
    clocks[:] = [144.0, 6.0, {7: 2.0}]
    assert not limit.is_over  # 44 s, of which it waited 15 for a processor
    clocks[0] = 145.0
    assert limit.is_over


def test_where_the_kernel_does_not_report_the_wait_a_factor_stands_for_it(clocks):
    clocks[2] = {}
    limit = CpuDeadline(1, 30.0)
    clocks[:2] = [100.0 + 30 * BUSY_FACTOR - 1, 6.0]
    assert not limit.is_over
    clocks[0] += 1
    assert limit.is_over


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


def test_the_wait_for_a_processor_is_read_for_each_thread():
    queued = queued_seconds(os.getpid())
    assert os.getpid() in queued or not Path("/proc/self/schedstat").exists()
    assert all(seconds >= 0 for seconds in queued.values()) and queued_seconds(2**22 + 1) == {}


def test_what_a_descendant_uses_counts():
    """iree-run-module is a script around a native tool: the script itself only waits."""

    def of_itself(pid: int) -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    script = "(while :; do :; done) & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as parent:
        try:
            while processor_seconds(parent.pid) <= of_itself(parent.pid):
                time.sleep(0.01)  # until the descendant has used something
            assert len(queued_seconds(parent.pid)) == 2 or not Path("/proc/self/schedstat").exists()
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
