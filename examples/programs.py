"""The programs of the examples, the demo, the benchmarks and the tests: MLIR text, and what NumPy says about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

INPUT_SCALE, WEIGHT_SCALE, OUTPUT_SCALE = 0.02, 0.005, 0.3
"""Real value of one int8 step. Chosen so that random int8 data uses the output's range and saturates a little of it."""


@dataclass(frozen=True)
class QuantisedConv:
    """int8 input and weights, dequantised; 3x3 convolution, stride 1, on an input that is padded already; bias; int8 again.

    ``size`` is the height and width of the output, in pixels; the input has two more of each.
    """

    size: int = 16
    channels: int = 64
    filters: int = 256

    @property
    def text(self) -> str:
        """The module: linalg on tensors, as a frontend writes it."""
        padded, size, c, f = self.size + 2, self.size, self.channels, self.filters
        x, w, y = f"1x{c}x{padded}x{padded}x", f"{f}x{c}x3x3x", f"1x{f}x{size}x{size}x"
        same = "affine_map<(n, c, h, w) -> (n, c, h, w)>"
        parallel = 'iterator_types = ["parallel", "parallel", "parallel", "parallel"]'
        dequantise = f"linalg.generic {{indexing_maps = [{same}, {same}], {parallel}}}"
        requantise = f"linalg.generic {{indexing_maps = [{same}, affine_map<(n, c, h, w) -> (c)>, {same}], {parallel}}}"
        return f"""\
func.func @main(%x: tensor<{x}i8>, %w: tensor<{w}i8>, %bias: tensor<{f}xf32>) -> tensor<{y}i8> {{
  %x_scale = arith.constant {INPUT_SCALE} : f32
  %w_scale = arith.constant {WEIGHT_SCALE} : f32
  %y_scale = arith.constant {OUTPUT_SCALE} : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %zero = arith.constant 0.0 : f32
  %x_empty = tensor.empty() : tensor<{x}f32>
  %xd = {dequantise} ins(%x : tensor<{x}i8>) outs(%x_empty : tensor<{x}f32>) {{
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %r = arith.mulf %i, %x_scale : f32
    linalg.yield %r : f32
  }} -> tensor<{x}f32>
  %w_empty = tensor.empty() : tensor<{w}f32>
  %wd = {dequantise} ins(%w : tensor<{w}i8>) outs(%w_empty : tensor<{w}f32>) {{
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %r = arith.mulf %i, %w_scale : f32
    linalg.yield %r : f32
  }} -> tensor<{w}f32>
  %acc_empty = tensor.empty() : tensor<{y}f32>
  %acc = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<{y}f32>) -> tensor<{y}f32>
  %conv = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%xd, %wd : tensor<{x}f32>, tensor<{w}f32>) outs(%acc : tensor<{y}f32>) -> tensor<{y}f32>
  %q_empty = tensor.empty() : tensor<{y}i8>
  %q = {requantise} ins(%conv, %bias : tensor<{y}f32>, tensor<{f}xf32>) outs(%q_empty : tensor<{y}i8>) {{
  ^bb0(%in: f32, %b: f32, %out: i8):
    %s = arith.addf %in, %b : f32
    %d = arith.divf %s, %y_scale : f32
    %n = math.roundeven %d : f32
    %l = arith.maximumf %n, %low : f32
    %h = arith.minimumf %l, %high : f32
    %r = arith.fptosi %h : f32 to i8
    linalg.yield %r : i8
  }} -> tensor<{y}i8>
  return %q : tensor<{y}i8>
}}
"""

    def reference(self, x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The same in float64, int8 [1, filters, size, size]; the scales are the module's, rounded to float32."""
        x_scale, w_scale, y_scale = (float(np.float32(s)) for s in (INPUT_SCALE, WEIGHT_SCALE, OUTPUT_SCALE))
        pixels = x[0].astype(np.float64) * x_scale
        weights = w.astype(np.float64) * w_scale
        total = np.zeros((self.filters, self.size * self.size))
        for row in range(3):
            for column in range(3):
                window = pixels[:, row : row + self.size, column : column + self.size]
                total += weights[:, :, row, column] @ window.reshape(self.channels, -1)
        rounded = np.rint((total + bias.astype(np.float64)[:, None]) / y_scale)
        return np.clip(rounded, -128, 127).astype(np.int8).reshape(1, self.filters, self.size, self.size)


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(
        description="Writes the quantised convolution as MLIR to standard output."
    )
    parser.add_argument(
        "--size", type=int, default=16, help="height and width of the feature map (default 16)"
    )
    parser.add_argument("--channels", type=int, default=64, help="input channels (default 64)")
    parser.add_argument("--filters", type=int, default=256, help="output channels (default 256)")
    args = parser.parse_args()
    print(QuantisedConv(args.size, args.channels, args.filters).text, end="")


if __name__ == "__main__":
    main()
