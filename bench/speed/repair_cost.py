"""What does a repair cost? `fissile compile` beside stock iree-compile on the module that the repair made.

    python -m bench.speed.repair_cost FOLDER_OR_FILE … --target gfx942|vulkan|llvm-cpu
        [--sample N --seed S] [--only REGEX] [--rounds N] [--limit SECONDS] [--flag=FLAG …] [--most X] [--json FILE]

Programs are drawn in a seeded order until N of them needed a repair. Each of those is compiled in turns:

    original   stock on the program: it refuses it, or is ended at the limit
    front      stock on the program, up to global optimisation, where --emit-mlir writes
    repaired   stock on what was written, from there to the end
    fissile    the whole command: both processes start, the front half, the failure, the search, the compile

Seconds of the clock and of processor time (all processes that took part); the ratio is the median over rounds of
fissile by repaired, and by front and repaired together. The steps are fissile's own (`seconds` in its JSON report). Exit status 1 where the median over
the programs, of the smaller of the two ratios, is above --most (default 2).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.corpus_numerics import TARGETS as RUNNING
from bench.programs.program_files import drawn, existing, pattern
from bench.table.paired import as_installed

BIN = Path(sys.executable).parent
TARGETS = {
    "gfx942": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
    "sm_86": ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_86"],
    "vulkan": RUNNING["vulkan"][1],
    "vulkan-llvmpipe": [*RUNNING["vulkan"][1], "--iree-vulkan-target=llvmpipe"],
    "llvm-cpu": RUNNING["llvm-cpu"][1],
}
FROM_REPAIRED, TO_REPAIRED = "--compile-from=global-optimization", "--compile-to=global-optimization"


@dataclass(frozen=True)
class Spent:
    """``wall`` and ``processor`` seconds of one command with all of its processes; ``status`` None: ended at the limit."""

    wall: float
    processor: float
    status: int | None
    output: str = ""


@dataclass(frozen=True)
class Row:
    """One program: medians over the rounds, and fissile's own steps of the quickest round."""

    program: str
    codes: tuple[str, ...]
    edits: tuple[str, ...]
    rounds: int
    generated: int
    original: Spent
    front: Spent
    repaired: Spent
    fissile: Spent
    wall_ratio: float
    processor_ratio: float
    whole_ratio: float
    """By the clock, with the front half on both sides."""
    steps: dict[str, float]


def spend(command: Sequence[object], limit: float) -> Spent:
    """Runs ``command`` in a process group of its own and waits for it."""
    with tempfile.TemporaryFile("w+") as stream:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=stream,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=as_installed(),
        )
        status: int | None = None
        used = None
        while used is None:
            pid, ended, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = status = os.waitstatus_to_exitcode(ended)
                used = usage
            elif time.perf_counter() - started > limit:
                os.killpg(process.pid, signal.SIGKILL)
                _pid, _ended, used = os.wait4(process.pid, 0)
                process.returncode = -signal.SIGKILL
            else:
                time.sleep(0.01)
        wall = time.perf_counter() - started
        stream.seek(0)
        return Spent(wall, used.ru_utime + used.ru_stime, status, stream.read())


def _median(many: Sequence[Spent]) -> Spent:
    return Spent(
        statistics.median(s.wall for s in many), statistics.median(s.processor for s in many), many[0].status
    )


def measure(program: Path, flags: list[str], how: list[str], rounds: int, limit: float) -> Row | str:
    """A row, or why there is none: nothing had to be repaired, or one of the commands failed."""
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as name:
        folder = Path(name)
        module = folder / "repaired.mlir"
        ours = [
            BIN / "fissile",
            "compile",
            *flags,
            *how,
            program,
            "-o",
            folder / "ours.vmfb",
            "--format=json",
        ]
        first = spend([*ours, f"--emit-mlir={module}"], limit * 4)
        if first.status != 0 or "{" not in first.output:
            return f"fissile: exit {first.status}"
        report = json.loads(first.output[first.output.index("{") :])
        if not any(f["severity"] == "repaired" for f in report["findings"]):
            return ""
        originals, fronts, repaired, fissile, steps = [], [], [], [], []
        for _ in range(rounds):
            originals.append(spend([BIN / "iree-compile", *flags, program, "-o", folder / "o.vmfb"], limit))
            fronts.append(
                spend([BIN / "iree-compile", TO_REPAIRED, *flags, program, "-o", folder / "f.mlir"], limit)
            )
            repaired.append(
                spend([BIN / "iree-compile", FROM_REPAIRED, *flags, module, "-o", folder / "r.vmfb"], limit)
            )
            if repaired[-1].status != 0:
                return f"stock on the repaired module: exit {repaired[-1].status}"
            fissile.append(spend(ours, limit * 4))
            output = fissile[-1].output
            steps.append(json.loads(output[output.index("{") :])["seconds"])
        pairs = list(zip(fissile, repaired, strict=True))
        return Row(
            program.stem,
            tuple(sorted({f["code"] for f in report["findings"] if f["severity"] == "repaired"})),
            tuple(report["facts"].get("edits", ())),
            report["facts"].get("rounds", 0),
            report["facts"].get("generated", 0),
            _median(originals),
            _median(fronts),
            _median(repaired),
            _median(fissile),
            statistics.median(f.wall / r.wall for f, r in pairs),
            statistics.median(f.processor / r.processor for f, r in pairs),
            statistics.median(
                f.wall / (r.wall + front.wall) for f, r, front in zip(fissile, repaired, fronts, strict=True)
            ),
            min(steps, key=lambda s: sum(s.values())),
        )


def _line(row: Row) -> str:
    steps = " ".join(f"{name} {seconds:.1f}" for name, seconds in row.steps.items())
    refused = "ended at the limit" if row.original.status is None else f"{row.original.wall:.1f} s"
    return (
        f"{row.program:<26} {row.wall_ratio:5.2f} clock {row.processor_ratio:5.2f} processor {row.whole_ratio:5.2f} with the front half   "
        f"original {refused}, front {row.front.wall:.1f} s, repaired {row.repaired.wall:.1f} s, fissile {row.fissile.wall:.1f} s   "
        f"{','.join(row.codes)} {row.rounds} rounds {row.generated} generated   {steps}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=existing, nargs="+")
    parser.add_argument("--target", choices=TARGETS, default="gfx942")
    parser.add_argument("--sample", type=int, default=0, help="stop after that many repaired programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one stock compile")
    parser.add_argument("--flag", action="append", default=[], help="added to fissile compile")
    parser.add_argument("--most", type=float, default=2.0, help="the largest ratio that passes")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for program in drawn(arguments.paths, arguments.only, arguments.seed):
        row = measure(program, TARGETS[arguments.target], arguments.flag, arguments.rounds, arguments.limit)
        if isinstance(row, str):
            if row:
                print(f"{program.stem:<26} not measured: {row}", flush=True)
            continue
        rows.append(row)
        print(_line(row), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(r) for r in rows], indent=1))
        if len(rows) == arguments.sample:
            break
    if not rows:
        print(f"{arguments.target}: nothing needed a repair")
        return 1
    clock, processor, whole = (
        [getattr(r, name) for r in rows] for name in ("wall_ratio", "processor_ratio", "whole_ratio")
    )
    print(
        f"{arguments.target}: {len(rows)} repaired programs: fissile by stock on the repaired module, median "
        f"{statistics.median(clock):.2f} by the clock ({min(clock):.2f} to {max(clock):.2f}), "
        f"{statistics.median(processor):.2f} by processor time ({min(processor):.2f} to {max(processor):.2f}); with the front half "
        f"{statistics.median(whole):.2f} by the clock ({min(whole):.2f} to {max(whole):.2f})"
    )
    return 1 if min(statistics.median(clock), statistics.median(processor)) > arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
