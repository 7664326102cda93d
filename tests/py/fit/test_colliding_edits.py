"""Two edits of one op, of which the first replaces it: not tried together, and no failure of a remedy."""

from __future__ import annotations

import pytest

from fissile.pipelines.repair.edits import FOLD, apply_edits, edits
from fissile.pipelines.session import Session

BY_ELEMENT = "fissile-read-by-element"
CHAIN = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c2 = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %double = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %c2 : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%double, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
"""


def _parsed():
    return Session().parse_text(CHAIN)


def test_an_op_that_another_edit_has_replaced_is_a_collision():
    assert not apply_edits(_parsed(), (*edits(BY_ELEMENT, [0]), *edits(FOLD, [0])))


@pytest.mark.parametrize("name", [BY_ELEMENT, FOLD])
def test_each_of_them_alone_is_none(name):
    module = _parsed()
    assert apply_edits(module, edits(name, [0])) and module.is_valid()
