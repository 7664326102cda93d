"""What programs cost on the Vulkan device, as stock builds them (`--repair=off`) and repaired: compile, first run, later runs.

Seconds by the clock of one compile and of one run in a process of its own, without Mesa's shader cache: the driver's compiler is part of
it. Milliseconds of a later run, when the driver has compiled: the mean over at least 0.3 s.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.corpus_numerics import TARGETS
from fissile.pipelines.process.child import run_child

BIN = Path(sys.executable).parent
TIMED = ("--benchmark_format=json", "--benchmark_min_warmup_time=0.01", "--benchmark_min_time=0.3s")


def show(programs: Iterable[tuple[str, str, Sequence[str]]], target: str, limit: float) -> None:
    """A line for each (name, text, inputs), compiled for ``target``; ``limit`` in seconds for each compile and run."""
    head = "compile s / run s / again ms"
    print(f"{'program':<22} {head + ', as it is':>40}  {head + ', repaired':>40}")
    for name, text, inputs in programs:
        before, after = cells(text, inputs, target, limit)
        print(f"{name:<22} {before:>40}  {after:>40}", flush=True)


def cells(text: str, inputs: Sequence[str], target: str, limit: float) -> tuple[str, str]:
    """`compile / run / again` of the program ``text`` with ``inputs`` (`2x3xf32=1`), as it is and repaired; words where one does not end."""
    os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"
    made = []
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as folder:
        source, module = Path(folder, "in.mlir"), Path(folder, "out.vmfb")
        source.write_text(text)
        for repair in ("off", "auto"):
            compiled = seconds(
                [
                    str(BIN / "fissile"),
                    "compile",
                    *TARGETS[target][1],
                    f"--repair={repair}",
                    f"--dispatch-timeout={limit:g}",
                    str(source),
                    "-o",
                    str(module),
                ],
                limit,
            )
            how = [
                f"--module={module}",
                "--device=vulkan",
                "--function=main",
                *(f"--input={given}" for given in inputs),
            ]
            ran = seconds([str(BIN / "iree-run-module"), *how], limit) if module.exists() else "-"
            again = (
                later([str(BIN / "iree-benchmark-module"), *TIMED, *how], limit) if ran[0].isdigit() else "-"
            )
            made.append(f"{compiled} / {ran} / {again}")
            module.unlink(missing_ok=True)
    return made[0], made[1]


def seconds(command: list[str], limit: float) -> str:
    """Of ``command``; words where it fails or does not end."""
    start = time.monotonic()
    ended = run_child(command, limit)
    spent = time.monotonic() - start
    if ended.reason:
        return f"> {limit:.0f}"
    return f"{spent:.1f}" if ended.status == 0 else "failed"


def later(command: list[str], limit: float) -> str:
    """Milliseconds of a run that is not the first, from iree-benchmark-module's answer."""
    ended = run_child(command, limit)
    if ended.reason or ended.status:
        return f"> {limit:.0f} s" if ended.reason else "failed"
    return f"{json.loads(ended.out)['benchmarks'][0]['real_time']:.3g}"
