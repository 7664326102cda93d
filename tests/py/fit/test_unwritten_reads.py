"""FIS190: private memory that a thread reads and has not written, multiplied by 0; and twins whose reads are masked."""

from __future__ import annotations

import pytest
from reported_codes import codes

from fissile.passes.failures.threads.unwritten_reads import UnwrittenReads

WHOLE_TILES = UnwrittenReads.fails.replace("18x18x3", "18x18x16").replace("3x3x3x16", "3x3x16x16")
MATMUL = """\
func.func @f(%x: tensor<64x27xf32>, %w: tensor<27x32xi8>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<27x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<27x32xi8>) outs(%wide : tensor<27x32xf32>) {
  ^bb0(%q: i8, %o: f32):
    %n = arith.sitofp %q : i8 to f32
    linalg.yield %n : f32
  } -> tensor<27x32xf32>
  %empty = tensor.empty() : tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.matmul ins(%x, %y : tensor<64x27xf32>, tensor<27x32xf32>) outs(%start : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
"""

# The channels of the result are no whole tiles either: the read is masked for them alone.
TWO_BORDERS = UnwrittenReads.fails.replace("3x3x3x16", "3x3x3x24").replace("16x16x16", "16x16x24")


@pytest.mark.parametrize("text", [UnwrittenReads.fails, TWO_BORDERS])
def test_a_filter_of_few_channels_is_dequantised_before(tmp_path, text):
    assert codes(tmp_path, text, "gfx942") == ["FIS190"]


@pytest.mark.parametrize(
    ("text", "target"),
    [(WHOLE_TILES, "gfx942"), (MATMUL, "gfx942"), (MATMUL, "sm_80"), (UnwrittenReads.fails, "vulkan")],
)
def test_whole_tiles_and_masked_reads_are_not_concerned(tmp_path, text, target):
    assert "FIS190" not in codes(tmp_path, text, target)
