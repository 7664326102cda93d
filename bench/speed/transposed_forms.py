"""Convolutions of StableHLO whose operands are arguments in another order than the one that IREE vectorises on llvm-cpu: FIS140.

    python -m bench.speed.transposed_forms FOLDER   # writes the programs
    python -m bench.speed.fusion_tune FOLDER        # stock against a transposition in a dispatch of its own

JAX exports the parameters of a model as arguments, and its convolutions are NCHW and OIHW unless the model says otherwise. Names say the order, the
kernel, the batch and the rows: ``oihw_3_b1_14``.
"""

from __future__ import annotations

import sys

from bench.programs.program_files import write_programs

SIZES = {14: 128, 28: 64, 56: 32}
"""Rows -> channels."""
ORDERS = {
    "oihw": ("[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "bcss", "oikk"),
    "ohwi": ("[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]", "bssc", "okki"),
    "hwoi": ("[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]", "bssc", "kkoi"),
    "hwio": ("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "bssc", "kkio"),
}
"""Name -> the numbers of the dimensions, the image's sizes and the kernel's; the last is the order that IREE vectorises."""


def convolution(order: str, kernel: int, batch: int, rows: int) -> str:
    numbers, image, weights = ORDERS[order]
    channels = SIZES[rows]
    sizes = {"b": batch, "c": channels, "s": rows, "o": channels, "i": channels, "k": kernel}
    x, w = (f"tensor<{''.join(f'{sizes[letter]}x' for letter in one)}f32>" for one in (image, weights))
    edge = kernel // 2
    window = f"stride = [1, 1], pad = [[{edge}, {edge}], [{edge}, {edge}]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]"
    groups = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    return f"""func.func @main(%x: {x}, %w: {w}) -> {x} {{
  %r = stablehlo.convolution(%x, %w) dim_numbers = {numbers}, window = {{{window}}} {groups} : ({x}, {w}) -> {x}
  return %r : {x}
}}
"""


def gradient(rows: int) -> str:
    """Of the weights of a 3x3 convolution, over a batch of 8."""
    channels = SIZES[rows]
    x = f"tensor<8x{rows}x{rows}x{channels}xf32>"
    w = f"tensor<3x3x{channels}x{channels}xf32>"
    window = "stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]"
    groups = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    numbers = "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]"
    return f"""func.func @main(%x: {x}, %g: {x}) -> {w} {{
  %r = stablehlo.convolution(%x, %g) dim_numbers = {numbers}, window = {{{window}}} {groups} : ({x}, {x}) -> {w}
  return %r : {w}
}}
"""


def programs() -> dict[str, str]:
    """Name -> MLIR text."""
    made = {
        f"{order}_{kernel}_b{batch}_{rows}": convolution(order, kernel, batch, rows)
        for order in ORDERS
        for kernel in (1, 3, 5)
        for batch in (1, 8)
        for rows in SIZES
    }
    return made | {f"gradient_{rows}": gradient(rows) for rows in SIZES}


if __name__ == "__main__":
    sys.exit(write_programs(__doc__, programs()))
