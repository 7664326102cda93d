"""What does it cost that all threads of a workgroup do the same work (FIS127), and what once their loops are one?

    python -m bench.speed.redundant_computation [--only REGEX] [--limit 120]

Plain f32 convolutions, poolings and matmuls of odd sizes and their even neighbours, for IREE's default Vulkan target. Names say
channels, filters and pixels, or rows, columns and terms.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from itertools import product

from bench.programs.program_files import pattern
from bench.speed.before_after import show


def windows(root: str, channels: int, filters: int, size: int, kernel: int) -> tuple[str, list[str]]:
    """A convolution or pooling in NCHW layout with a result of ``size`` squared, and its inputs."""
    image = f"1x{channels}x{size + kernel - 1}x{size + kernel - 1}xf32"
    taps = (
        f"{filters}x{channels}x{kernel}x{kernel}xf32" if root.startswith("conv") else f"{kernel}x{kernel}xf32"
    )
    result = f"tensor<1x{filters}x{size}x{size}xf32>"
    return _function(
        f"linalg.{root} {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}",
        image,
        taps,
        result,
    )


def matmul(rows: int, columns: int, terms: int) -> tuple[str, list[str]]:
    return _function(
        "linalg.matmul", f"{rows}x{terms}xf32", f"{terms}x{columns}xf32", f"tensor<{rows}x{columns}xf32>"
    )


def _function(root: str, left: str, right: str, result: str) -> tuple[str, list[str]]:
    text = f"""func.func @main(%a: tensor<{left}>, %b: tensor<{right}>) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %r = {root} ins(%a, %b : tensor<{left}>, tensor<{right}>) outs(%f : {result}) -> {result}
  return %r : {result}
}}
"""
    return text, [f"{left}=1", f"{right}=1"]


def programs() -> Iterator[tuple[str, tuple[str, list[str]]]]:
    for (channels, filters), size in product([(16, 64), (64, 64)], (7, 8, 27, 28)):
        yield f"conv3x3_{channels}_{filters}_{size}", windows("conv_2d_nchw_fchw", channels, filters, size, 3)
    for filters, size in (
        (96, 7),
        (64, 7),
        (128, 7),
        (256, 3),
        (64, 15),
    ):  # 4, 8, 16, 32 and 8 threads have the same vectors
        yield f"conv1x1_192_{filters}_{size}", windows("conv_2d_nchw_fchw", 192, filters, size, 1)
    for size in (27, 28):
        yield f"pool_max_64_{size}", windows("pooling_nchw_max", 64, 64, size, 3)
    for columns in (197, 200, 3025):
        yield f"matmul_64_{columns}_64", matmul(64, columns, 64)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds for a compile or a run (default 120)"
    )
    arguments = parser.parse_args()
    show(
        ((name, text, inputs) for name, (text, inputs) in programs() if re.search(arguments.only, name)),
        "vulkan",
        arguments.limit,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
