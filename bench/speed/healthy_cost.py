"""What a program costs that stock compiles as it is: `fissile compile` and `fissile check` beside stock, in processor time.

    python -m bench.speed.healthy_cost [PROGRAM.mlir …] [--target llvm-cpu] [--rounds 7]

The three run in turns, each with all of its processes and without the cache; a ratio is the median over the rounds. Without programs:
a TOSA convolution of 0.8 s. Exit status 1 where fissile wrote other bytes than stock.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.table.compiling import BIN, fissile, stock
from bench.table.paired import in_turns, ratio

SMALL = Path(__file__).resolve().parents[1] / "front_ends/tosa_conv_rescale.mlir"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--target", default="llvm-cpu")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    differ = False
    for source in arguments.programs or [SMALL]:
        with tempfile.TemporaryDirectory() as name:
            theirs, ours = Path(name, "stock.vmfb"), Path(name, "fissile.vmfb")
            check = [str(BIN / "fissile"), "check", str(source), "--target", arguments.target, "--no-cache"]
            commands = {
                "stock": stock(source, arguments.target, theirs),
                "compile": fissile(source, arguments.target, ours, "--no-cache"),
                "check": check,
            }
            costs = in_turns(commands, arguments.rounds)
            same = theirs.exists() and ours.exists() and theirs.read_bytes() == ours.read_bytes()
            differ |= not same
        compiled, checked = (ratio(costs[one], costs["stock"]) for one in ("compile", "check"))
        seconds = min(cost.processor for cost in costs["stock"])
        print(
            f"{source.stem:<28} {arguments.target:<10} stock {seconds:6.2f} s   compile {compiled.processor:5.2f}   "
            f"check {checked.processor:5.2f}   {'same bytes' if same else 'OTHER BYTES'}",
            flush=True,
        )
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
