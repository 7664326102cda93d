"""What `--fusion=tune` buys on llvm-cpu: stock IREE against the tuned compile, each program timed in pairs.

    python -m bench.speed.fusion_tune FOLDER [--only REGEX] [--pairs N] [--cut-always] [--json FILE]

Both modules run in turns (A B A B …) on the same inputs, so that a busy machine slows both; the ratio of a
program is the median over its pairs of stock's time by the tuned time: above 1 is faster. Prints one line per
program with the findings' counts (evaluations per element), and the geometric mean of each group of programs.
A module that is byte for byte stock's is not timed: its ratio is 1. Exit status 1 where a program is slower
than 0.95 of stock, or the compile fails where stock's does not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.programs.program_files import existing, pattern
from fissile.pipelines.native_programs import native_program
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.runtimes import input_flags
from fissile.pipelines.numerics.signature import choose, signatures_of_source
from fissile.pipelines.process.child import run_child

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
CUT_ALWAYS = (
    "--pipeline-after=global-optimization:builtin.module(fissile-place-boundaries,fissile-lower-boundaries)"
)
SLOWER = 0.95
SECONDS_A_RUN = 0.2
GROUPS = (
    ("dequantise + convolution", r"^conv_\w+?_dqt?_"),
    ("f16 extend + convolution", r"^conv_\w+?_ext_"),
    ("depthwise convolution", r"^dwconv_"),
    ("pooling", r"^pool_"),
    ("matmul", r"^matmul_|^bmm_"),
    ("softmax and row sums", r"^softmax_|^reduce_"),
)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Row:
    """``ratio`` is None where one did not compile or run; ``stock`` and ``tuned`` are the best seconds."""

    program: str
    ratio: float | None
    detail: str
    stock: float = 0.0
    tuned: float = 0.0
    spread: tuple[float, float] = (0.0, 0.0)
    times: int = 0
    load: float = 0.0


def measure(program: Path, pairs: int, how: list[str], compile_seconds: float = 300.0) -> Row:
    """``how``: what is added to stock's flags."""
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as name:
        folder = Path(name)
        stock, tuned = folder / "stock.vmfb", folder / "tuned.vmfb"
        refused = compile_stock(program, stock, FLAGS, compile_seconds)
        if refused:
            return Row(program.stem, None, f"stock: {refused.message}")
        command = [
            str(Path(sys.executable).parent / "fissile"),
            "compile",
            *FLAGS,
            *how,
            "--format=json",
            str(program),
            "-o",
            str(tuned),
        ]
        ended = run_child(command, compile_seconds)
        if ended.status != 0:
            return Row(program.stem, None, f"tuned: {ended.reason or ended.err[-300:]}")
        findings = json.loads(ended.out[ended.out.index("{") :])["findings"]
        counts = [
            int(n)
            for f in findings
            if f["code"] == "FIS140"
            for n in re.findall(r"up to (\d+) times", f["message"])
        ]
        times = max(counts, default=0)
        if stock.read_bytes() == tuned.read_bytes():
            return Row(program.stem, 1.0, "stock's bytes", times=times)
        signature = choose(signatures_of_source(program), None, program.name)
        given = input_flags(folder, signature, draw(signature, 0))
        load, taken = os.getloadavg()[0], []
        for _ in range(pairs):
            pair = [_seconds(vmfb, signature.function, given) for vmfb in (stock, tuned)]
            if None in pair:
                return Row(program.stem, None, "did not run", times=times)
            taken.append(pair)
        ratios = sorted(a / b for a, b in taken)
        return Row(
            program.stem,
            statistics.median(ratios),
            "; ".join(h["title"] for f in findings for h in f["helps"]),
            min(a for a, _ in taken),
            min(b for _, b in taken),
            (ratios[0], ratios[-1]),
            times,
            load,
        )


def _seconds(vmfb: Path, function: str, given: list[str]) -> float | None:
    ended = run_child(
        [
            native_program("iree-benchmark-module"),
            f"--module={vmfb}",
            f"--function={function}",
            "--device=local-task",
            *given,
            "--benchmark_format=json",
            f"--benchmark_min_time={SECONDS_A_RUN}s",
        ],
        300.0,
    )
    if ended.status != 0:
        return None
    one = json.loads(ended.out[ended.out.index("{") :])["benchmarks"][0]
    return one["real_time"] * _UNITS[one["time_unit"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument(
        "--cut-always",
        action="store_true",
        help="not --fusion=tune: cut off every bit-extending producer, worth it or not",
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for program in sorted(arguments.folder.glob("*.mlir")):
        if not re.search(arguments.only, program.stem):
            continue
        row = measure(program, arguments.pairs, [CUT_ALWAYS] if arguments.cut_always else ["--fusion=tune"])
        rows.append(row)
        if row.stock:
            print(
                f"{row.program:<26} {row.ratio:6.2f} times ({row.spread[0]:.2f} to {row.spread[1]:.2f})  "
                f"{row.stock * 1e3:9.2f} -> {row.tuned * 1e3:8.2f} ms  "
                f"{f'evaluated {row.times} times' if row.times else row.detail}  load {row.load:.1f}",
                flush=True,
            )
        elif row.ratio is None:
            print(f"{row.program:<26} not measured: {row.detail}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(r) for r in rows], indent=1))
    for name, names in (*GROUPS, ("all that was changed", "")):
        _group(name, [r for r in rows if re.search(names, r.program) and (names or r.stock)])
    slow = [r for r in rows if r.ratio is not None and r.ratio < SLOWER]
    broken = [r for r in rows if r.detail.startswith("tuned:")]
    for row in slow:
        print(f"slower than {SLOWER} of stock: {row.program} {row.ratio:.2f}")
    return 1 if slow or broken else 0


def _group(name: str, rows: list[Row]) -> None:
    known = [r.ratio for r in rows if r.ratio is not None]
    if known:
        mean = math.exp(statistics.fmean(map(math.log, known)))
        print(
            f"{name:<26} {len(known)} programs, {sum(bool(r.stock) for r in rows)} changed: "
            f"geometric mean {mean:.2f}, {min(known):.2f} to {max(known):.2f}"
        )


if __name__ == "__main__":
    sys.exit(main())
