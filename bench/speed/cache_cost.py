"""What a second compile of a repaired program costs, in processor seconds: `python -m bench.speed.cache_cost [SIZE]`.

Three rows for the convolution of README on gfx942: `fissile compile` with no answer of an earlier run, the same again, and stock
iree-compile on the module that fissile repaired (`--emit-mlir`). The last column is the share of stock's time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.table.paired import as_installed
from examples.programs import QuantisedConv
from fissile.pipelines.native_programs import stock_compiler

GFX942 = ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")
AGAIN = 5
"""Runs of each row; the smallest counts."""


def processor_seconds(command: list[str], environment: dict[str, str]) -> float:
    """Of one run, its children's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(words: list[str]) -> int:
    fissile = str(Path(sys.executable).with_name("fissile"))
    with tempfile.TemporaryDirectory() as folder:
        source, repaired, output = (
            f"{folder}/{name}" for name in ("conv.mlir", "repaired.mlir", "conv.vmfb")
        )
        Path(source).write_text(QuantisedConv(int(words[0]) if words else 56).text)
        kept = as_installed() | {"FISSILE_CACHE": f"{folder}/cache"}
        off = as_installed() | {"FISSILE_CACHE": "off"}
        subprocess.run(
            [fissile, "compile", source, "-o", output, *GFX942, f"--emit-mlir={repaired}"],
            env=off,
            check=True,
            capture_output=True,
        )
        stock = [stock_compiler(), repaired, "-o", output, *GFX942, "--compile-from=global-optimization"]
        guarded = [fissile, "compile", source, "-o", output, *GFX942]
        rows = {
            "stock, the repaired module": min(processor_seconds(stock, off) for _ in range(AGAIN)),
            "fissile, the first time": min(processor_seconds(guarded, off) for _ in range(AGAIN)),
        }
        processor_seconds(guarded, kept)
        rows["fissile, again"] = min(processor_seconds(guarded, kept) for _ in range(AGAIN))
        base = rows["stock, the repaired module"]
        for name, seconds in rows.items():
            print(f"{name:<28} {seconds:6.2f} s  {seconds / base:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
