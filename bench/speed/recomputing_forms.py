"""Dequantise + a window that reads each element a chosen number of times: what FIS140's threshold rests on.

    python -m bench.speed.recomputing_forms FOLDER          # writes the programs
    python -m bench.speed.fusion_tune FOLDER --cut-always   # stock against every producer cut off

Names say the root, how often it evaluates each element of its producer, and the size: ``pool_02x_large``.
"""

from __future__ import annotations

import sys

from bench.programs.program_files import write_programs

SIZES = {"tiny": (6, 8), "mini": (14, 16), "small": (28, 32), "large": (112, 128)}
"""Output rows and channels."""
WINDOWS = {1: (1, 1), 2: (1, 2), 3: (1, 3), 4: (2, 2), 6: (2, 3), 9: (3, 3)}
FILTERS = (1, 2, 3, 4, 8, 16)


def dequantise(name: str, shape: tuple[int, ...]) -> str:
    loops = ", ".join(f"d{i}" for i in range(len(shape)))
    size, kinds = "x".join(map(str, shape)), ", ".join(['"parallel"'] * len(shape))
    return f"""  %{name}e = tensor.empty() : tensor<{size}xf32>
  %{name}d = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>,
        affine_map<({loops}) -> ({loops})>], iterator_types = [{kinds}]}}
      ins(%{name} : tensor<{size}xi8>) outs(%{name}e : tensor<{size}xf32>) {{
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %r = arith.mulf %i, %scale : f32
    linalg.yield %r : f32
  }} -> tensor<{size}xf32>
"""


def windowed(
    op: str, image: tuple[int, ...], kernel: tuple[int, ...], result: tuple[int, ...], start: float
) -> str:
    """int8 ``image`` dequantised, then ``op``; a pooling's window is empty, other kernels are int8 too."""
    x, w, out = ("x".join(map(str, shape)) for shape in (image, kernel, result))
    pooling = "pooling" in op
    weights = "  %wd = tensor.empty() : tensor<" + w + "xf32>\n" if pooling else dequantise("w", kernel)
    argument = "" if pooling else f", %w: tensor<{w}xi8>"
    return f"""func.func @main(%x: tensor<{x}xi8>{argument}) -> tensor<{out}xf32> {{
  %scale = arith.constant 0.0078125 : f32
  %start = arith.constant {start} : f32
{dequantise("x", image)}{weights}  %e = tensor.empty() : tensor<{out}xf32>
  %acc = linalg.fill ins(%start : f32) outs(%e : tensor<{out}xf32>) -> tensor<{out}xf32>
  %r = {op} {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%xd, %wd : tensor<{x}xf32>, tensor<{w}xf32>) outs(%acc : tensor<{out}xf32>) -> tensor<{out}xf32>
  return %r : tensor<{out}xf32>
}}
"""


def programs() -> dict[str, str]:
    """Name -> MLIR text."""
    made = {}
    for name, (rows, channels) in SIZES.items():
        for times, (height, width) in WINDOWS.items():
            image, result = (1, rows + height - 1, rows + width - 1, channels), (1, rows, rows, channels)
            made[f"pool_{times:02}x_{name}"] = windowed(
                "linalg.pooling_nhwc_max", image, (height, width), result, -128.0
            )
            made[f"dwconv_{times:02}x_{name}"] = windowed(
                "linalg.depthwise_conv_2d_nhwc_hwc", image, (height, width, channels), result, 0.0
            )
        for filters in FILTERS:
            made[f"conv1x1_{filters:02}x_{name}"] = windowed(
                "linalg.conv_2d_nhwc_hwcf",
                (1, rows, rows, channels),
                (1, 1, channels, filters),
                (1, rows, rows, filters),
                0.0,
            )
    return made


if __name__ == "__main__":
    sys.exit(write_programs(__doc__, programs()))
