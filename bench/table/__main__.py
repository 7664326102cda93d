"""One table: what compiling, checking and repairing costs beside stock, and what a repaired program runs at.

    python -m bench.table [PROGRAM.mlir …] [--rounds N] [--growth 10,100,1000,10000] [--only PART] [--minutes N] [--write docs/bench.md]

Each number is a ratio, the median over rounds in which both commands ran one after the other. Without programs: two quantised
convolutions of the README's form (repaired on GPUs and Vulkan; the small one fits a larger budget), for running also a softmax
of long rows; and healthy ones: a StableHLO and a TOSA program from bench/front_ends, a quantised transformer block, and the onnx
package's light_resnet50, once.
What was measured is kept in build/bench-table.jsonl. No measurement begins after --minutes (20): run the same command again for
the rest. All of it takes about a quarter of an hour on two quiet cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from fissile.passes.iree.version import installed
from fissile.pipelines.numerics.runtimes import present

from . import programs as chosen
from .compiling import checks, growth, healthy, repairs
from .kept import Kept, Row
from .running import SAME, runs

REPAIRED_ON = ("gfx942", "vulkan")
HEALTHY_ON = ("llvm-cpu", "gfx942")
NETWORK_ON = ("gfx942",)
WITHIN_NOISE = "within noise"
RUN_ON = ("llvm-cpu", "vulkan")
PARTS = ("repair", "growth", "healthy", "check", "running")
COMPILING = (
    "fissile's cache is off, except for *a second time*.\n\n"
    "- A repair is compared with stock IREE's compile of the repaired module, from the source on.\n"
    "- *Growth* compiles a program with the given number of ops, all in different dispatches, up to phase executable-configurations: "
    "behind it, only IREE's own code generation is left.\n"
    "- Stock IREE needs about a second for most programs, including the start of Python and IREE, 4 s for the transformer block and 20 s "
    "for resnet50.\n"
    "- If stock IREE rejects a program, `check` is compared with the time until it does. It also searches for a repair and compiles it."
)
RUNNING = (
    "The ratio is the time of one call of the repaired program (on llvm-cpu: compiled with `--fusion=tune`) to that of the alternative; "
    "below 1 the repaired program is faster.\n\n"
    "- Every module's numbers are compared with those of stock IREE's module for llvm-cpu, with the tolerance of `fissile verify`. A "
    "module with *wrong numbers* has no time.\n"
    "- *The same module* is equal byte for byte and not timed. *Refused* means that there is no module.\n"
    "- Vulkan is Mesa's lavapipe, which runs on the host's processors. `python -m bench.packed_runs` measures the device of another "
    "machine.\n"
    "- The larger budget is that of `--iree-vulkan-target=llvmpipe`. This target has subgroup operations as well, which the default target "
    "lacks and a softmax uses; `fissile compile --match-device=vulkan` compiles for it.\n"
    "- The programs run in turns for 3 rounds; the best processor time counts. *Noise* is how much the repaired program differs from "
    "itself in these rounds. A ratio that exceeds its goal by no more than that counts as met within noise."
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.table", description=__doc__.splitlines()[0])
    parser.add_argument(
        "programs", nargs="*", type=Path, help="programs to repair and run, instead of the README's"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", default="10,100,1000,10000", help="numbers of ops")
    parser.add_argument("--only", choices=PARTS, help="measure this part; others as they are kept")
    parser.add_argument(
        "--minutes", type=float, default=20.0, help="begin no measurement later; the next run does the rest"
    )
    parser.add_argument("--write", type=Path, help="write the table as Markdown as well")
    parser.add_argument(
        "--keep", type=Path, default=chosen.ROOT / "build/bench-table.jsonl", help="rows that are measured"
    )
    parser.add_argument("--kept", action="store_true", help="measure nothing: the table of what is kept")
    parser.add_argument("--fresh", action="store_true", help="measure all rows again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # the second time of a repair is this run's own
        if args.fresh:
            args.keep.unlink(missing_ok=True)
        programs = args.programs or chosen.repaired(folder)
        run = args.programs or [*programs, *chosen.run_as_well(folder)]
        front_ends = chosen.healthy(folder)
        network = [folder / "resnet50.mlir"] if find_spec("onnx") else []
        if network and not args.kept and args.only in (None, "healthy", "check"):
            chosen.resnet50(folder)
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
            "running": runs(run, RUN_ON, folder),
        }
        kept, rows = Kept(args.keep, 60 * args.minutes), []
        for name, units in parts.items():
            began = time.monotonic()
            found = kept.rows(units, measures=args.only in (None, name) and not args.kept)
            for row, was_there in found:
                print("kept" if was_there else "measured", row, file=sys.stderr, flush=True)
                rows.append(row)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    text = markdown(rows)
    print("\n" + text)
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    for name, why in kept.failed.items():
        print(f"not measured: {name}: {why}", file=sys.stderr)
    if kept.left:
        print(f"not measured yet: {len(kept.left)} measurements; run the same command again", file=sys.stderr)
    return 1 if kept.failed or kept.left else 0


def markdown(rows: list[Row]) -> str:
    """The table as docs/bench.md has it."""
    lines = [
        "# What does fissile cost, and how fast are its repairs?",
        "",
        "`python -m bench.table --write docs/bench.md` wrote this page. Each number is a ratio: fissile's time divided by stock IREE's, as "
        "the median of rounds in which both ran one after the other. On a busy machine, trust *processor* rather than *wall*.",
        "",
        f"Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[1]:.0f}; "
        f"Python {platform.python_version()}, IREE {installed()}; " + "; ".join(map(str, present())) + ".",
        "",
        *_summary(rows),
    ]
    compiling = [row for row in rows if row.part == "compiling"]
    running = [row for row in rows if row.part == "running"]
    if compiling:
        lines += ["", "## Compared with stock `iree-compile`", "", COMPILING, ""]
        lines += [
            "| what | program | target | processor | goal | met | wall | memory | rounds |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.what} | {r.program} | {r.target} | {r.note or _number(r.processor)} | {_goal(r)} | {_number(r.wall)} "
            f"| {_number(r.memory)} | {'' if r.note else r.rounds} |"
            for r in compiling
        ]
    if running:
        lines += ["", "## Compared with the alternatives at run time", "", RUNNING, ""]
        lines += [
            "| program | target | compared with | processor | goal | met | wall | noise |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.program} | {r.target} | {r.what} | {r.note or _number(r.processor)} | {_goal(r)} | {_number(r.wall)} "
            f"| {'' if r.note else _number(r.noise)} |"
            for r in running
        ]
    return "\n".join(lines) + "\n"


def _summary(rows: list[Row]) -> list[str]:
    """How many rows with a goal meet it, by what was measured."""
    counts: dict[str, Counter] = {}
    for row in rows:
        what = f"run time, compared with {row.what}" if row.part == "running" else row.what.partition(",")[0]
        if met := _met(row):
            counts.setdefault(what, Counter())[met] += 1
    if not counts:
        return []
    heads = ("yes", WITHIN_NOISE, "no")
    return [
        f"| goal met | {' | '.join(heads)} |",
        "|---|---|---|---|",
        *(f"| {what} | {' | '.join(str(count[head]) for head in heads)} |" for what, count in counts.items()),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _goal(row: Row) -> str:
    """The columns "goal" and "met"."""
    return f"{row.goal:.2f} | {met}" if (met := _met(row)) else " | "


def _met(row: Row) -> str:
    """Equal to the second digit counts as met, and so does what only noise puts above it; empty: there is no goal or no ratio."""
    if row.goal and row.note == SAME:
        return "yes"
    if not row.goal or row.processor is None:
        return ""
    if round(row.processor, 2) <= row.goal:
        return "yes"
    return WITHIN_NOISE if round(row.processor, 2) <= row.goal * row.noise else "no"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    sys.exit(main())
