"""One table: what compiling, checking and repairing costs beside stock, and what a repaired program runs at.

    python -m bench.table [PROGRAM.mlir …] [--rounds N] [--growth 10,100,1000,10000] [--only PART] [--write docs/bench.md]

Each number is a ratio, the median over rounds in which both commands ran one after the other. Without programs: two quantised
convolutions of the README's form (repaired on GPUs and Vulkan; the small one fits a larger budget), and healthy ones: a StableHLO
and a TOSA program from bench/front_ends, a quantised transformer block, and the onnx package's light_resnet50, once.
What was measured is kept in build/bench-table.jsonl: the same command goes on from there. All of it takes about a quarter of an
hour on two quiet cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from bench.programs.transformer_program import TransformerBlock
from fissile.passes.iree.version import installed

from .compiling import checks, growth, healthy, repairs
from .kept import Kept, Row
from .running import runs

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = ("stablehlo_einsum", "tosa_conv_rescale")
REPAIRED_ON = ("gfx942", "vulkan")
HEALTHY_ON = ("llvm-cpu", "gfx942")
NETWORK_ON = ("gfx942",)
RUN_ON = ("llvm-cpu", "vulkan")
PARTS = ("repair", "growth", "healthy", "check", "running")
COMPILING = (
    "Without fissile's cache, but for *a second time*. A repair is divided by what stock takes for the module that it made, from the "
    "program on. Growth: so many ops in different dispatches, as far as fissile looks at each of them (phase executable-configurations). "
    "The programs are small, but for the transformer block (stock: 4 s) and resnet50 (20 s): stock takes about a second, of which "
    "the start of Python and IREE is a part in both columns. "
    "Where stock refuses the program, `check` is divided by that refusal."
)
RUNNING = (
    "The repaired program's time for one call (llvm-cpu: compiled with `--fusion=tune`) divided by that of the other one; below 1 "
    "it is faster. Vulkan is Mesa's lavapipe, which computes on the host's processors. Best of 3 rounds each, in turns, of processor "
    "time: where a value exceeds its goal by no more than the repaired program differs from itself (*noise*), the two are equal. "
    "A device of another machine: `python -m bench.packed_runs`."
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.table", description=__doc__.splitlines()[0])
    parser.add_argument(
        "programs", nargs="*", type=Path, help="programs to repair and run, instead of the README's"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", default="10,100,1000,10000", help="numbers of ops")
    parser.add_argument("--only", choices=PARTS, help="measure this part; others as they are kept")
    parser.add_argument("--write", type=Path, help="write the table as Markdown as well")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build/bench-table.jsonl", help="rows that are measured"
    )
    parser.add_argument("--kept", action="store_true", help="measure nothing: the table of what is kept")
    parser.add_argument("--fresh", action="store_true", help="measure all rows again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # the second time of a repair is this run's own
        if args.fresh:
            args.keep.unlink(missing_ok=True)
        programs = args.programs or [_convolution(folder, 16, 256), _convolution(folder, 8, 64)]
        front_ends = [ROOT / "bench/front_ends" / f"{stem}.mlir" for stem in HEALTHY]
        front_ends.append(_transformer_block(folder))
        network = [_resnet50(folder)] if find_spec("onnx") and not args.kept else []
        sizes = [int(size) for size in args.growth.split(",") if size]
        parts = {
            "repair": repairs(programs, REPAIRED_ON, folder, args.rounds),
            "growth": growth(sizes, folder),
            "healthy": chain(
                healthy(front_ends, HEALTHY_ON, folder, args.rounds),
                healthy(network, NETWORK_ON, folder, 1),
            ),
            "check": chain(
                checks([*front_ends, *programs], HEALTHY_ON, folder, args.rounds),
                checks(network, NETWORK_ON, folder, 1),
            ),
            "running": runs(programs, RUN_ON, folder),
        }
        kept, rows = Kept(args.keep), []
        for name, units in parts.items():
            found = kept.rows(units, measures=args.only in (None, name) and not args.kept)
            for row, was_there in found:
                print("kept" if was_there else "measured", row, file=sys.stderr, flush=True)
                rows.append(row)
    text = markdown(rows)
    print("\n" + text)
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    return 0


def _convolution(folder: Path, size: int, filters: int) -> Path:
    path = folder / f"quantised_conv_{size}.mlir"
    words = ["--size", str(size), "--filters", str(filters)]
    made = subprocess.run(
        [sys.executable, ROOT / "examples/programs.py", *words], check=True, capture_output=True, text=True
    )
    path.write_text(made.stdout, encoding="utf-8")
    return path


def _transformer_block(folder: Path) -> Path:
    path = folder / "transformer_block.mlir"
    path.write_text(TransformerBlock(128, 256, 4, 1024).text, encoding="utf-8")
    return path


def _resnet50(folder: Path) -> Path:
    """In a process of its own: what this one holds in memory would count for every command that it starts."""
    made = f"from bench.check_cost import import_resnet50; import_resnet50(Path({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", f"from pathlib import Path; {made}"], check=True, cwd=ROOT)
    return folder / "resnet50.mlir"


def markdown(rows: list[Row]) -> str:
    """The table as docs/bench.md has it."""
    lines = [
        "# What fissile costs, and what its repairs run at",
        "",
        "Written by `python -m bench.table --write docs/bench.md`. Each number is a ratio of two commands that ran one after the "
        "other, the median of the rounds; on a machine that others use, trust the processor time and not the clock.",
        "",
        f"Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[1]:.0f}; "
        f"Python {platform.python_version()}, IREE {installed()}.",
    ]
    compiling = [row for row in rows if row.part == "compiling"]
    running = [row for row in rows if row.part == "running"]
    if compiling:
        lines += ["", "## Compiling, beside stock `iree-compile`", "", COMPILING, ""]
        lines += [
            "| what | program | target | processor | goal | met | wall | memory | rounds |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.what} | {r.program} | {r.target} | {_number(r.processor)} | {_goal(r)} | {_number(r.wall)} "
            f"| {_number(r.memory)} | {r.rounds} |"
            for r in compiling
        ]
    if running:
        lines += ["", "## Running, beside what a user has otherwise", "", RUNNING, ""]
        lines += [
            "| program | target | beside | processor | goal | met | wall | noise |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.program} | {r.target} | {r.what} | {r.note or _number(r.processor)} | {_goal(r)} | {_number(r.wall)} "
            f"| {_number(r.noise) if r.processor else ''} |"
            for r in running
        ]
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _goal(row: Row) -> str:
    """The columns "goal" and "met"; equal to the second digit counts as met, and so does what only noise puts above it."""
    if not row.goal or row.processor is None:
        return " | "
    met = "yes" if round(row.processor, 2) <= row.goal else "no"
    if met == "no" and round(row.processor, 2) <= row.goal * row.noise:
        met = "within noise"
    return f"{row.goal:.2f} | {met}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    sys.exit(main())
