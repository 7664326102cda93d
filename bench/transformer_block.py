"""A quantised transformer block through stock iree-compile and `fissile compile`, side by side; run against NumPy.

    python -m bench.transformer_block                                      4 variants on four targets
    python -m bench.transformer_block --target llvm-cpu --run
    python -m bench.transformer_block --sequence 16 --width 32 --target vulkan --target vulkan:device --run
    python -m bench.transformer_block --print --sequence dynamic           the MLIR text

Variants: integer or dequantised (float) matmuls, static or dynamic sequence length. A dynamic module is run with two
lengths. Exit status: 0 fissile compiled all and every run agrees, 1 not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.programs.guarded_case import MATCHED, RUNTIMES, Case
from bench.programs.transformer_program import TransformerBlock
from fissile.pipelines.numerics.compare import Tolerance
from fissile.pipelines.numerics.runtimes import present

TARGETS = ("gfx942", "sm_86", "vulkan", "llvm-cpu")
TOLERANCE = Tolerance(
    scaled=0.02, reason="a value next to a rounding border falls on either side, four times in a row"
)
"""Of the output, which is normalised: standard deviation 1. docs/networks.md has what was measured."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sequence", default="both", help="a length, 'dynamic', or 'both' (128 and dynamic; default)"
    )
    parser.add_argument(
        "--width", type=int, default=256, help="of the model (default 256); hidden is 4 times that"
    )
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--arithmetic", choices=("integer", "float"), action="append", help="default: both")
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}; also {MATCHED}")
    parser.add_argument(
        "--run", action="store_true", help=f"run what has a runtime here ({', '.join(RUNTIMES)})"
    )
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds for each compile and each run (default 600)"
    )
    parser.add_argument("--no-stock", action="store_true", help="do not ask stock iree-compile")
    parser.add_argument(
        "--option", action="append", default=[], help="an option for fissile compile, as it is"
    )
    parser.add_argument("--print", action="store_true", help="only print the modules")
    args = parser.parse_args()
    here = () if args.print else [runtime.name for runtime in present()]
    length = int(args.sequence) if args.sequence.isdigit() else 128
    dynamics = {"both": (False, True), "dynamic": (True,)}.get(args.sequence, (False,))
    fine = True
    with tempfile.TemporaryDirectory(prefix="fissile-transformer-") as scratch:
        for arithmetic in args.arithmetic or ("integer", "float"):
            for dynamic in dynamics:
                block = TransformerBlock(length, args.width, args.heads, 4 * args.width, arithmetic, dynamic)
                if args.print:
                    print(block.text)
                    continue
                for target in args.target or TARGETS:
                    runs = args.run and RUNTIMES.get(target) in here
                    fine = shown(block, Path(scratch), target, runs, args) and fine
    return 0 if fine else 1


def shown(block: TransformerBlock, folder: Path, target: str, runs: bool, args: argparse.Namespace) -> bool:
    size = "dynamic" if block.dynamic else str(block.sequence)
    source = folder / f"{block.arithmetic}-{size}.mlir"
    source.write_text(block.text)
    case = _case(block, source, target, runs, args)
    fine = case.show(runs)
    output = source.with_suffix(f".{target.replace(':', '-')}.vmfb")
    if fine and runs and block.dynamic:
        # Another length, which no tile divides.
        fine = _case(replace(block, sequence=block.sequence // 2 + 3), source, target, True, args).run(output)
    return fine


def _case(block: TransformerBlock, source: Path, target: str, runs: bool, args: argparse.Namespace) -> Case:
    inputs = block.inputs() if runs else []
    expected = [block.reference(*inputs).astype("float32")] if runs else []
    size = "?" if block.dynamic else block.sequence
    return Case(
        f"transformer {block.arithmetic} {size}x{block.width}",
        source,
        target,
        inputs,
        expected,
        TOLERANCE,
        (),
        args.limit,
        tuple(args.option),
        not args.no_stock,
    )


if __name__ == "__main__":
    sys.exit(main())
