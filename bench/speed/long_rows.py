"""Rows that SPIR-V gives to one thread, for longer than lavapipe lets it run: what FIS125 is about.

    python -m bench.speed.long_rows FOLDER                          # writes the programs
    python -m bench.corpus_numerics FOLDER --target vulkan    # --flag=--repair=off: as stock builds them

Names say the root, the element type it reads and the row's length: ``softmax_i8_50257``.
"""

from __future__ import annotations

import sys

from bench.programs.program_files import write_programs
from bench.speed.recomputing_forms import dequantise

LENGTHS = (50257, 128256, 300001)
"""Vocabularies of language models, and an odd number."""
ROWS = "affine_map<(d0, d1) -> (d0, d1)>"


def softmax(element: str, length: int) -> str:
    row = f"tensor<1x{length}xf32>"
    return _function(
        element,
        (1, length),
        row,
        f"""  %e = tensor.empty() : {row}
  %r = linalg.softmax dimension(1) ins(%xd : {row}) outs(%e : {row}) -> {row}
""",
    )


def total(element: str, length: int) -> str:
    return _function(
        element,
        (1, length),
        "tensor<1xf32>",
        f"""  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %r = linalg.generic {{indexing_maps = [{ROWS}, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}}
      ins(%xd : tensor<1x{length}xf32>) outs(%f : tensor<1xf32>) {{
  ^bb0(%in: f32, %sum: f32):
    %s = arith.addf %in, %sum : f32
    linalg.yield %s : f32
  }} -> tensor<1xf32>
""",
    )


def product(rows: int, length: int, columns: int) -> str:
    """A matmul with few results."""
    a, b, c = (
        f"tensor<{rows}x{length}xf32>",
        f"tensor<{length}x{columns}xf32>",
        f"tensor<{rows}x{columns}xf32>",
    )
    return _function(
        "f32",
        (rows, length),
        c,
        f"""  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%zero : f32) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%xd, %w : {a}, {b}) outs(%f : {c}) -> {c}
""",
        f", %w: {b}",
    )


def image_mean(size: int) -> str:
    """The pooling at the end of a network, over a whole image."""
    image, result = f"tensor<1x{size}x{size}x8xf32>", "tensor<1x1x1x8xf32>"
    return _function(
        "f32",
        (1, size, size, 8),
        result,
        f"""  %w = tensor.empty() : tensor<{size}x{size}xf32>
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %r = linalg.pooling_nhwc_sum {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
      ins(%xd, %w : {image}, tensor<{size}x{size}xf32>) outs(%f : {result}) -> {result}
""",
    )


def odd_convolution(channels: int, filters: int, size: int) -> str:
    """3x3 in NCHW layout, with a result of odd size: default Vulkan computes it 64 times over (`whole_conv`)."""
    image, kernel = f"tensor<1x{channels}x{size + 2}x{size + 2}xf32>", f"tensor<{filters}x{channels}x3x3xf32>"
    result = f"tensor<1x{filters}x{size}x{size}xf32>"
    return _function(
        "f32",
        (1, channels, size + 2, size + 2),
        result,
        f"""  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}
  %r = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%xd, %w : {image}, {kernel}) outs(%f : {result}) -> {result}
""",
        f", %w: {kernel}",
    )


def _function(element: str, shape: tuple[int, ...], result: str, body: str, more: str = "") -> str:
    """``body`` computes %r from %xd, the argument in f32."""
    given = "x".join(map(str, shape))
    if element == "i8":
        body = dequantise("x", shape) + body
    else:
        body = body.replace("%xd", "%x")
    return f"""func.func @main(%x: tensor<{given}x{element}>{more}) -> {result} {{
  %scale = arith.constant 0.0078125 : f32
  %zero = arith.constant 0.0 : f32
{body}  return %r : {result}
}}
"""


def programs() -> dict[str, str]:
    """Name -> MLIR text."""
    made = {f"image_mean_f32_{size * size}": image_mean(size) for size in (257, 300)}
    made |= {
        f"product_f32_{length}": product(rows, length, columns)
        for rows, length, columns in ((1, 131072, 1), (1, 300001, 8), (3, 100003, 5), (4, 300000, 4))
    }
    made["whole_conv_f32_1440"] = odd_convolution(160, 320, 7)
    for element in ("f32", "i8"):
        for length in LENGTHS:
            made[f"softmax_{element}_{length}"] = softmax(element, length)
            made[f"sum_{element}_{length}"] = total(element, length)
    return made


if __name__ == "__main__":
    sys.exit(write_programs(__doc__, programs()))
