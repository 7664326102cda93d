"""`tensor.gather`, `tensor.scatter` and constant tensors of index, which IREE has no lowering for."""

from __future__ import annotations

import numpy as np
from entered_programs import all_computed, entered

REMEDY = "fissile-lower-tensor-ops"
DRAWN = np.random.default_rng(3)


def test_a_gather_of_rows_and_columns(tmp_path):
    """By one coordinate behind the dimensions that stay, and by two that are not in order."""
    text = """
func.func @main(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>, %j: tensor<2x3x2xi64>) -> (tensor<3x4x5x1xf32>, tensor<2x3x5xf32>) {
  %0 = tensor.gather %x[%i] gather_dims([2]) : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x4x5x1xf32>
  %1 = tensor.gather %x[%j] gather_dims([0, 2]) : (tensor<4x5x6xf32>, tensor<2x3x2xi64>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<3x4x5x1xf32>, tensor<2x3x5xf32>
}
"""
    entered(tmp_path, text, "tensor.gather", REMEDY)
    x = DRAWN.normal(size=(4, 5, 6)).astype(np.float32)
    i, j = np.array([[5], [0], [2]], np.int32), DRAWN.integers(0, 4, (2, 3, 2))
    one, two = all_computed(tmp_path, x, i, j)
    np.testing.assert_array_equal(one, np.moveaxis(x[:, :, i[:, 0]], 2, 0)[..., None])
    np.testing.assert_array_equal(two, x[j[..., 0], :, j[..., 1]])


def test_a_scatter_of_rows(tmp_path):
    text = """
func.func @main(%x: tensor<6x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x1x8xf32>) -> tensor<6x8xf32> {
  %0 = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<3x1x8xf32>, tensor<6x8xf32>, tensor<3x1xi32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
"""
    entered(tmp_path, text, "tensor.scatter", REMEDY)
    x, u = DRAWN.normal(size=(6, 8)).astype(np.float32), DRAWN.normal(size=(3, 1, 8)).astype(np.float32)
    i = np.array([[4], [0], [2]], np.int32)
    [found] = all_computed(tmp_path, x, i, u)
    x[i[:, 0]] = u[:, 0]
    np.testing.assert_array_equal(found, x)


def test_a_constant_of_indices(tmp_path):
    text = """
func.func @main(%i: tensor<i32>) -> tensor<i32> {
  %0 = tensor.extract %i[] : tensor<i32>
  %1 = arith.index_cast %0 : i32 to index
  %c = arith.constant dense<[7, -3, 40]> : tensor<3xindex>
  %2 = tensor.extract %c[%1] : tensor<3xindex>
  %3 = arith.index_cast %2 : index to i32
  %4 = tensor.from_elements %3 : tensor<i32>
  return %4 : tensor<i32>
}
"""
    entered(tmp_path, text, "arith.constant : tensor<3xindex>", "fissile-store-indices")
    assert [int(all_computed(tmp_path, np.array(i, np.int32))[0]) for i in range(3)] == [7, -3, 40]
