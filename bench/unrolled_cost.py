"""What does code cost that is unrolled over narrow elements (FIS109), and what once its producers are kept out?

    python -m bench.unrolled_cost [--sums 16,32,64,96,192] [--limit 120]

A dequantised 64xK matrix times Kx64, for the Vulkan device that is present, as stock builds it (`--repair=off`) and repaired. Seconds by the
clock of one compile, and of one run in a process of its own without Mesa's shader cache: nearly all of it is the driver's compiler.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from fissile.pipelines.numerics.child_process import run_child

from bench.corpus_numerics import TARGETS
from bench.pattern_producers import dequantised
from bench.pattern_roots import contraction
from bench.program_text import Program

ROWS = COLUMNS = 64
BIN = Path(sys.executable).parent


def program(k: int) -> str:
    p = Program()
    left, right = dequantised(p, (ROWS, k), False), p.argument((k, COLUMNS), "f32")
    return p.text([contraction("linalg.matmul", (ROWS, COLUMNS))(p, [left, right], "f32")])


def seconds(command: list[str], limit: float) -> str:
    """Of ``command``; words where it fails or does not end."""
    start = time.monotonic()
    ended = run_child(command, limit)
    spent = time.monotonic() - start
    if ended.reason:
        return f"> {limit:.0f}"
    return f"{spent:.1f}" if ended.status == 0 else "failed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sums", default="16,32,64,96,192", help="values of K")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a compile or a run (default 120)")
    arguments = parser.parse_args()
    os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"
    print("   K  compile/run as it is  compile/run repaired  (seconds)")
    for k in map(int, arguments.sums.split(",")):
        with tempfile.TemporaryDirectory(prefix="fissile-bench-") as folder:
            source, module, cells = Path(folder, "in.mlir"), Path(folder, "out.vmfb"), []
            source.write_text(program(k))
            for repair in ("off", "auto"):
                compiled = seconds([str(BIN / "fissile"), "compile", *TARGETS["vulkan-matched"][1], f"--repair={repair}",
                                    f"--dispatch-timeout={arguments.limit:g}", str(source), "-o", str(module)], arguments.limit)
                ran = seconds([str(BIN / "iree-run-module"), f"--module={module}", "--device=vulkan", "--function=main",
                               f"--input={ROWS}x{k}xi8=1", f"--input={k}x{COLUMNS}xf32=1"], arguments.limit) if module.exists() else "-"
                cells.append(f"{compiled} / {ran}")
                module.unlink(missing_ok=True)
        print(f"{k:4d}  {cells[0]:>20s}  {cells[1]:>20s}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
