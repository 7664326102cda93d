"""`python -m bench.control_flow`: see the package."""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import bench.control_flow
from fissile.pipelines.process.child import run_child

from .program import Call, Program
from .square import Square
from .stateful import Dynamic, Remembering, Stateful
from .updating import Updating

KINDS = {
    "plain": Program,
    "stateful": Stateful,
    "remembering": Remembering,
    "dynamic": Dynamic,
    "updating": Updating,
    "square": Square,
}
FLAGS = {
    "llvm-cpu": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=generic"),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}  # fmt: skip
RUNTIMES = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
FIRST = Call(np.array([1, 2, 3, 4], np.int32), np.array([10, 20, 30, 40], np.int32), 2)
CALLS = (FIRST, Call(np.array([5, 1, 0, -2], np.int32), np.array([7, 60, 3, 1], np.int32), 2), FIRST)
SECONDS = 120.0
RIGHT, REFUSED, FAILED, WRONG = "right", "not built", "run fails", "wrong"


def judged(words: list[str], program: Program, folder: Path, target: str) -> tuple[str, list[str]]:
    """What a compiler comes to, and the codes of its findings."""
    source, output = folder / "main.mlir", folder / "main.vmfb"
    source.write_text(program.text)
    output.unlink(missing_ok=True)
    ended = run_child([*words, *FLAGS[target], str(source), "-o", str(output)], SECONDS)
    codes = sorted(set(re.findall(r"^\w+\[(FIS\d+)\]", ended.err, re.MULTILINE)))
    if ended.status != 0 or not output.exists():
        return REFUSED, codes
    return called(output, program, RUNTIMES[target]), codes


def called(module: Path, program: Program, driver: str) -> str:
    """What the calls come to, all in one session."""
    given = json.dumps([[call.x0.tolist(), call.x1.tolist(), call.n] for call in CALLS])
    words = [
        sys.executable,
        "-m",
        "bench.control_flow.session",
        str(module),
        driver,
        "x".join(map(str, program.SHAPE)),
    ]
    try:
        ended = subprocess.run(words, input=given, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return FAILED
    if ended.returncode != 0:
        return FAILED
    wanted = [[value.tolist() for value in row] for row in program.results(CALLS)]
    return RIGHT if json.loads(ended.stdout.splitlines()[-1]) == wanted else WRONG


def main() -> int:
    parser = argparse.ArgumentParser(
        description=bench.control_flow.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="programs (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed (default 0)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all")
    parser.add_argument("--target", action="append", choices=FLAGS, help="default: both")
    chosen = parser.parse_args()
    beside = Path(sys.executable).parent
    compilers = {
        "stock": [str(beside / "iree-compile")],
        "fissile": [str(beside / "fissile"), "compile", "--no-cache"],
    }
    good = True
    tables: dict[str, dict[str, Counter[str]]] = {}
    with tempfile.TemporaryDirectory(prefix="fissile-control-flow-") as folder:
        for kind, target in itertools.product(chosen.kind or KINDS, chosen.target or FLAGS):
            table = tables[f"{kind} | {target}"] = {name: Counter() for name in compilers}
            for seed in range(chosen.first, chosen.first + chosen.count):
                program, answers = KINDS[kind](seed), {}
                for name, words in compilers.items():
                    answers[name], codes = judged(words, program, Path(folder), target)
                    table[name][answers[name]] += 1
                if set(answers.values()) != {RIGHT}:
                    print(
                        f"{seed:6}  {kind:8}  {target:9} stock: {answers['stock']:10} fissile: {answers['fissile']:10} {' '.join(codes)}",
                        flush=True,
                    )
                good &= answers["fissile"] == RIGHT or answers["fissile"] == answers["stock"] != WRONG
    print(
        "| kind | target | programs | compiler | right | not built | run fails | wrong |\n|---|---|---|---|---|---|---|---|"
    )
    for target, table in tables.items():
        for name, counts in table.items():
            row = " | ".join(str(counts[answer]) for answer in (RIGHT, REFUSED, FAILED, WRONG))
            print(f"| {target} | {counts.total()} | {name} | {row} |")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
