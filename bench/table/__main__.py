"""One table: what compiling, checking and repairing costs beside stock, and what a repaired program runs at.

    python -m bench.table [PROGRAM.mlir …] [--rounds N] [--growth 10,100,1000] [--only compiling|running] [--write docs/bench.md]

Each number is a ratio, the median over rounds in which both commands ran one after the other. Without programs: the
quantised convolution of the README (repaired on GPUs and Vulkan), a StableHLO and a TOSA program from bench/front_ends (healthy).
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fissile.passes.iree.version import installed

from .compiling import Row, checks, growth, healthy, repairs
from .running import RunRow, runs

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = ("stablehlo_attn", "stablehlo_gelu_mlp_i8", "tosa_conv_rescale")
REPAIRED_ON = ("gfx942", "vulkan")
HEALTHY_ON = ("llvm-cpu", "gfx942")
RUN_ON = ("llvm-cpu", "vulkan")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.table", description=__doc__.splitlines()[0])
    parser.add_argument(
        "programs", nargs="*", type=Path, help="programs to repair and run, instead of the README's"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--growth", default="10,100,1000", help="numbers of dispatches, at most 10,000")
    parser.add_argument("--only", choices=("compiling", "running"))
    parser.add_argument("--write", type=Path, help="write the table as Markdown as well")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # the second time of a repair is this run's own
        programs = args.programs or [_readme_program(folder)]
        front_ends = [
            path for stem in HEALTHY if (path := ROOT / "bench/front_ends" / f"{stem}.mlir").exists()
        ]
        rows: list[Row] = []
        run_rows: list[RunRow] = []
        if args.only != "running":
            for part in (
                healthy(front_ends, HEALTHY_ON, folder, args.rounds),
                checks([*front_ends, *programs], HEALTHY_ON, folder, args.rounds),
                repairs(programs, REPAIRED_ON, folder, args.rounds),
                growth([int(size) for size in args.growth.split(",") if size], folder),
            ):
                rows += _shown(part)
        if args.only != "compiling":
            run_rows += _shown(runs(programs, RUN_ON, folder))
    text = markdown(rows, run_rows)
    print("\n" + text)
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    return 0


def _readme_program(folder: Path) -> Path:
    path = folder / "quantised_conv_64.mlir"
    made = subprocess.run(
        [sys.executable, ROOT / "examples/programs.py", "--size", "64"],
        check=True,
        capture_output=True,
        text=True,
    )
    path.write_text(made.stdout, encoding="utf-8")
    return path


def _shown(rows: Iterable) -> list:
    kept = []
    for row in rows:
        print(row, file=sys.stderr, flush=True)
        kept.append(row)
    return kept


def markdown(rows: list[Row], run_rows: list[RunRow]) -> str:
    """The table as docs/bench.md has it."""
    lines = [
        "# What fissile costs, and what its repairs run at",
        "",
        "Written by `python -m bench.table --write docs/bench.md`. Each number is a ratio to stock IREE, paired in one run.",
        "",
        f"Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores; Python {platform.python_version()}, IREE {installed()}.",
    ]
    if rows:
        lines += [
            "",
            "| what | program | target | processor time | wall time | memory | rounds | goal (processor) |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.what} | {r.program} | {r.target} | {r.value.processor:.2f} | {r.value.wall:.2f} | {r.value.memory:.2f} "
            f"| {r.value.rounds} | {r.goal:.2f} |"
            for r in rows
        ]
    if run_rows:
        lines += [
            "",
            "Time of one call of the repaired program, divided by that of an alternative; below 1 the repair is faster.",
            "",
        ]
        lines += ["| program | target | alternative | ratio |", "|---|---|---|---|"]
        lines += [
            f"| {r.program} | {r.target} | {r.alternative} | {r.note if r.ratio is None else f'{r.ratio:.2f}'} |"
            for r in run_rows
        ]
    return "\n".join(lines) + "\n"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    sys.exit(main())
