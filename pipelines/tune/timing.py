"""Which of several programs that compute the same runs fastest here? Measured, in turns, on the runtime that is present."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..native_programs import native_program
from ..numerics.inputs import draw
from ..numerics.runtimes import Runtime, input_flags
from ..numerics.signature import Signature
from ..process.child import run_child
from ..process.scratch import scratch

ROUNDS = 3
"""Each program is timed so often, in turns (A B A B …), and its best round counts: load only ever adds time."""
SECONDS_A_ROUND = 0.3


@dataclass(frozen=True)
class Timed:
    """``seconds`` per call of the best round; None where the program did not run, with ``why``.

    ``processor`` seconds per call of the round that took least of them, all threads of the host together: what a shared
    machine measures more surely, where the device computes on the host.
    """

    name: str
    seconds: float | None
    why: str = ""
    processor: float = 0.0


def time_in_turns(
    programs: Sequence[tuple[str, Path]],
    signatures: Sequence[Signature],
    runtime: Runtime,
    time_limit: float = 120.0,
) -> list[Timed]:
    """Times ``programs`` (name, vmfb) on ``runtime`` with the same seeded inputs, fastest first.

    Each of the functions ``signatures`` is called, and their times added. ``time_limit`` seconds for one round of one function.
    """
    with scratch() as folder:
        calls = []
        for signature in signatures:
            own = Path(folder, signature.function)
            own.mkdir()
            calls.append((signature.function, input_flags(own, signature, draw(signature, 0))))
        best: dict[str, tuple[float, float]] = {}
        failed: dict[str, str] = {}
        for _ in range(ROUNDS):
            for name, vmfb in programs:
                if name in failed:
                    continue
                taken, why = _round(vmfb, calls, runtime, time_limit)
                if taken is None:
                    failed[name] = why
                else:
                    seconds, processor = map(min, taken, best.get(name, taken))
                    best[name] = seconds, processor
    timed = [
        Timed(name, None, failed[name])
        if name in failed
        else Timed(name, best[name][0], processor=best[name][1])
        for name, _ in programs
    ]
    return sorted(timed, key=lambda t: (t.seconds is None, t.seconds or 0.0))


def _round(
    vmfb: Path, calls: Sequence[tuple[str, Sequence[str]]], runtime: Runtime, limit: float
) -> tuple[tuple[float, float] | None, str]:
    """Seconds of the clock and of the host's processors, for one call of each function; None and why where one did not run."""
    wall = processor = 0.0
    for function, given in calls:
        ended = run_child(
            [
                native_program("iree-benchmark-module"),
                f"--module={vmfb}",
                f"--function={function}",
                f"--device={runtime.device}",
                *given,
                "--benchmark_format=json",
                f"--benchmark_min_time={SECONDS_A_ROUND}s",
            ],
            limit,
        )
        if ended.status != 0:
            return None, ended.reason or (ended.err.strip().splitlines() or ["no output"])[-1][:200]
        measured = json.loads(ended.out[ended.out.index("{") :])["benchmarks"][0]
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[measured["time_unit"]]
        wall += measured["real_time"] * unit
        processor += measured["cpu_time"] * unit
    return (wall, processor), ""
