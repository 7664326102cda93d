"""Which of several programs that compute the same runs fastest here? Measured, in turns, on the runtime that is present."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .numerics.child_process import run_child
from .numerics.inputs import draw
from .numerics.runtimes import Runtime, input_flags, native_program
from .numerics.signature import Signature

ROUNDS = 3
"""Each program is timed so often, in turns (A B A B …), and its best round counts: load only ever adds time."""
SECONDS_A_ROUND = 0.3


@dataclass(frozen=True)
class Timed:
    """``seconds`` per call of the best round; None where the program did not run, with ``why``."""

    name: str
    seconds: float | None
    why: str = ""


def time_in_turns(programs: Sequence[tuple[str, Path]], signature: Signature, runtime: Runtime,
                  time_limit: float = 120.0) -> list[Timed]:
    """Times ``programs`` (name, vmfb) on ``runtime`` with the same seeded inputs, fastest first.

    ``time_limit`` seconds for one round of one program.
    """
    with tempfile.TemporaryDirectory(prefix="fissile-tune-") as folder:
        given = input_flags(Path(folder), signature, draw(signature, 0))
        best: dict[str, float] = {}
        failed: dict[str, str] = {}
        for _ in range(ROUNDS):
            for name, vmfb in programs:
                if name in failed:
                    continue
                seconds, why = _round(vmfb, signature, runtime, given, time_limit)
                if seconds is None:
                    failed[name] = why
                else:
                    best[name] = min(seconds, best.get(name, seconds))
    timed = [Timed(name, best[name]) if name not in failed else Timed(name, None, failed[name]) for name, _ in programs]
    return sorted(timed, key=lambda t: (t.seconds is None, t.seconds or 0.0))


def _round(vmfb: Path, signature: Signature, runtime: Runtime, given: Sequence[str], limit: float) -> tuple[float | None, str]:
    ended = run_child(
        [native_program("iree-benchmark-module"), f"--module={vmfb}", f"--function={signature.function}",
         f"--device={runtime.device}", *given, "--benchmark_format=json", f"--benchmark_min_time={SECONDS_A_ROUND}s"],
        limit,
    )
    if ended.status != 0:
        return None, ended.reason or (ended.err.strip().splitlines() or ["it said nothing"])[-1][:200]
    measured = json.loads(ended.out[ended.out.index("{"):])["benchmarks"][0]
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[measured["time_unit"]]
    return measured["real_time"] * unit, ""
