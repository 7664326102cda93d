"""What does code cost that is unrolled over narrow elements (FIS109), and what once its producers are in dispatches of their own?

    python -m bench.speed.unrolled_cost [--sums 16,32,64,96,192] [--limit 120]

A dequantised 64xK matrix times Kx64, for the Vulkan device that is present. Nearly all of a run is the driver's compiler.
"""

from __future__ import annotations

import argparse
import sys

from bench.programs.pattern_producers import dequantised
from bench.programs.pattern_roots import contraction
from bench.programs.text.program_text import Program
from bench.speed.before_after import show

ROWS = COLUMNS = 64


def program(k: int) -> str:
    p = Program()
    left, right = dequantised(p, (ROWS, k), False), p.argument((k, COLUMNS), "f32")
    return p.text([contraction("linalg.matmul", (ROWS, COLUMNS))(p, [left, right], "f32")])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sums", default="16,32,64,96,192", help="values of K")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds for a compile or a run (default 120)"
    )
    arguments = parser.parse_args()
    sums = map(int, arguments.sums.split(","))
    show(
        ((f"K = {k}", program(k), [f"{ROWS}x{k}xi8=1", f"{k}x{COLUMNS}xf32=1"]) for k in sums),
        "vulkan-matched",
        arguments.limit,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
