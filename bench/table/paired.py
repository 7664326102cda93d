"""Commands in turns, and what each cost: the machine's load changes within minutes, so only neighbours are compared."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Cost:
    """Of one command with all processes that it waited for: seconds, and the largest resident set in bytes."""

    wall: float
    processor: float
    memory: int
    status: int
    errors_text: str


@dataclass(frozen=True)
class Ratio:
    """Median over the rounds of one command's cost divided by that of its neighbour in the same round."""

    wall: float
    processor: float
    memory: float
    rounds: int


@cache
def _bytecode() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fissile-bench-bytecode-")


def as_installed() -> dict[str, str]:
    """The environment in which Python's modules are compiled once, as pip does it where fissile is installed.

    In a clone with PYTHONDONTWRITEBYTECODE every process compiles all of them again: 0.3 s that nobody has who installed it.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": _bytecode().name}


def measure(command: Sequence[str], cores: int = 0, limit: float = 600.0) -> Cost:
    """``cores``: on how many of this machine's (0: on all)."""
    chosen = sorted(os.sched_getaffinity(0))[:cores] if cores else None
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            env=as_installed(),
            preexec_fn=(lambda: os.sched_setaffinity(0, chosen)) if chosen else None,
        )
        status, usage = _waited(process.pid, began + limit)
        process.returncode = status
        errors.seek(0)
        errors_text = errors.read().decode(errors="replace")
    return Cost(
        time.perf_counter() - began,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
        status,
        errors_text,
    )


def _waited(pid: int, until: float):
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage
        if time.perf_counter() > until:
            os.killpg(pid, 9)
            _, status, usage = os.wait4(pid, 0)
            return os.waitstatus_to_exitcode(status), usage
        time.sleep(0.002)


def in_turns(
    commands: Mapping[str, Sequence[str]],
    rounds: int,
    cores: int = 0,
    warm: bool = True,
    limit: float = 600.0,
) -> dict[str, list[Cost]]:
    """Each command once a round, in an order that turns; ``warm``: a first round brings the files into memory and is left out."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    names = list(commands)
    for number in range(0 if warm else 1, rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            cost = measure(commands[name], cores, limit)
            if number:
                costs[name].append(cost)
    return costs


def ratio(costs: Sequence[Cost], base: Sequence[Cost]) -> Ratio:
    pairs = list(zip(costs, base, strict=True))
    return Ratio(
        statistics.median(a.wall / b.wall for a, b in pairs),
        statistics.median(a.processor / b.processor for a, b in pairs),
        statistics.median(a.memory / b.memory for a, b in pairs),
        len(pairs),
    )
