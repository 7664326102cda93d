"""StableHLO whose sizes are known at run time, as JAX writes it for symbolic shapes: stock IREE rejects it, fissile lowers it."""

from __future__ import annotations

import numpy as np
import pytest
from built import run
from hypothesis import given
from hypothesis import strategies as st
from test_stablehlo_entry import FLAGS, PRESENT, entered

import fissile

X = np.arange(20, dtype=np.float32).reshape(5, 4)
SOFTMAX = """
func.func private @wrapped(%n: tensor<i32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %one, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %m = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %mm = stablehlo.dynamic_broadcast_in_dim %m, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %d = stablehlo.subtract %x, %mm : tensor<?x4xf32>
  %e = stablehlo.exponential %d : tensor<?x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %ss = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %r = stablehlo.divide %e, %ss : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r = call @wrapped(%n, %x) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""
BROADCAST = """
func.func @main(%x: tensor<?x1xui8>, %s: tensor<3xi64>) -> tensor<?x?x?xui8> {
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1, 2] : (tensor<?x1xui8>, tensor<3xi64>) -> tensor<?x?x?xui8>
  return %r : tensor<?x?x?xui8>
}
"""
UPDATE = """
func.func @main(%x: tensor<?x4xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<?x4xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<?x4xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""
PART = """
func.func @main(%x: tensor<?x4xf32>, %i: tensor<1xi32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
ROWS = """
func.func @main(%x: tensor<?x4xf32>, %i: tensor<2x?xi32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 0>}> : (tensor<?x4xf32>, tensor<2x?xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
SCATTER = """
func.func @main(%x: tensor<?x4xf32>, %i: tensor<1xi32>, %u: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<1xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""
REPEATED = """
func.func @main(%x: tensor<?x1xTYPE>) -> tensor<?x4xTYPE> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x1xTYPE>) -> tensor<i32>
  %o = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %z = stablehlo.concatenate %o, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %z, dims = [0, 1] : (tensor<?x1xTYPE>, tensor<2xi32>) -> tensor<?x4xTYPE>
  return %r : tensor<?x4xTYPE>
}
"""
TO_SIZES, SLICED = "fissile-broadcast-to-sizes", "fissile-slice-to-sizes"


@pytest.mark.parametrize("runtime", PRESENT)
def test_a_softmax_over_rows_of_any_number(tmp_path, runtime):
    [made] = entered(tmp_path, SOFTMAX, TO_SIZES, runtime, [X], guard="assert")
    powers = np.exp(X - X.max(axis=1, keepdims=True))
    np.testing.assert_allclose(made, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


def test_its_sizes_need_no_check(tmp_path):
    """The size that the call passes on is known to be the argument's."""
    (tmp_path / "in.mlir").write_text(SOFTMAX)
    report = fissile.compile(
        tmp_path / "in.mlir", tmp_path / "o.vmfb", list(FLAGS["local-task"]), check=False
    )
    assert {f.code for f in report.findings} == {"FIS421"}


@pytest.mark.parametrize("runtime", PRESENT)
def test_a_broadcast_to_a_given_shape(tmp_path, runtime):
    given_x, sizes = np.arange(3, dtype=np.float32).reshape(3, 1), np.array([2, 3, 4], np.int64)
    text = BROADCAST.replace("ui8", "f32")
    [made] = entered(tmp_path, text, TO_SIZES, runtime, [given_x, sizes])
    np.testing.assert_array_equal(made, np.broadcast_to(given_x, (2, 3, 4)))


def test_a_broadcast_of_unsigned_integers(tmp_path):
    given_x, sizes = np.array([[0], [200], [2]], np.uint8), np.array([2, 3, 4], np.int64)
    [made] = entered(tmp_path, BROADCAST, TO_SIZES, "local-task", [given_x, sizes])
    np.testing.assert_array_equal(made.view(np.uint8), np.broadcast_to(given_x, (2, 3, 4)))


def test_a_size_that_does_not_fit_ends_the_call(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(BROADCAST)
    assert fissile.compile(source, output, list(FLAGS["local-task"]), check=False).exit_code == 0
    with pytest.raises(AssertionError, match="dimension 0 of %x must be"):
        run(output, [np.zeros((3, 1), np.uint8), np.array([2, 5, 4], np.int64)])


@pytest.mark.parametrize("i, j", [(1, 1), (-3, 7), (9, 0)])
def test_an_update_is_moved_inside(tmp_path, i, j):
    part = -np.ones((2, 3), np.float32)
    [made] = entered(
        tmp_path, UPDATE, SLICED, "local-task", [X, part, np.array(i, np.int32), np.array(j, np.int32)]
    )
    wanted, i, j = X.copy(), min(max(i, 0), 3), min(max(j, 0), 1)
    wanted[i : i + 2, j : j + 3] = part
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("start", (0, 2, -1, 4))
def test_a_part_is_moved_inside(tmp_path, start):
    [made] = entered(
        tmp_path, PART, SLICED, "local-task", [X, np.array([start], np.int32), np.array([3, 4], np.int32)]
    )
    np.testing.assert_array_equal(made, X[min(max(start, 0), 2) :][:3])


PART_OF_ROW = np.array([1, 3], np.int32)


@pytest.fixture(scope="module")
def rows_module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    entered(folder, ROWS, SLICED, "local-task", [X, np.zeros((2, 1), np.int32), PART_OF_ROW])
    return folder / "out.vmfb"


@given(st.lists(st.tuples(st.integers(-3, 8), st.integers(-3, 8)), min_size=1, max_size=6))
def test_rows_from_any_places(rows_module, places):
    """Three columns from a column on, of a row; both are moved inside."""
    indices = np.array([[column for column, _ in places], [row for _, row in places]], np.int32)
    [made] = run(rows_module, [X, indices, PART_OF_ROW])
    columns, rows = np.clip(indices[0], 0, 1), np.clip(indices[1], 0, 4)
    np.testing.assert_array_equal(
        made, np.stack([X[r, c : c + 3] for r, c in zip(rows, columns, strict=True)], axis=1)
    )


@pytest.mark.parametrize("at", (0, 2, 3, -1))
def test_a_part_that_is_not_inside_is_not_written(tmp_path, at):
    part = -np.ones((5, 2), np.float32)
    [made] = entered(tmp_path, SCATTER, SLICED, "local-task", [X, np.array([at], np.int32), part])
    wanted = X.copy()
    if 0 <= at <= 2:
        wanted[:, at : at + 2] = part
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("type_", ["ui16", "i1", "bf16", "complex<f32>"])
def test_elements_of_any_type(tmp_path, type_):
    """The size of a tensor of unsigned elements is that of its bits."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(REPEATED.replace("TYPE", type_))
    report = fissile.compile(source, output, list(FLAGS["local-task"]), check=False)
    assert report.exit_code == 0 and output.exists(), report.findings


def test_a_pad_to_a_known_size(tmp_path):
    """JAX puts the amounts together of constants, those between the elements as well."""
    text = """
func.func @main(%x: tensor<?x2xf32>, %v: tensor<f32>) -> tensor<8x2xf32> {
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %d = stablehlo.subtract %eight, %n : tensor<i32>
  %rest = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %low = stablehlo.concatenate %none, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %high = stablehlo.concatenate %rest, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %between = stablehlo.concatenate %none, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_pad %x, %v, %low, %high, %between : (tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x2xf32>
  return %r : tensor<8x2xf32>
}
"""
    x = np.arange(10, dtype=np.float32).reshape(5, 2)
    inputs = [x, np.array(7, np.float32)]
    [made] = entered(tmp_path, text, "fissile-lower-dynamic-shapes", "local-task", inputs)
    np.testing.assert_array_equal(made, np.pad(x, [(0, 3), (0, 0)], constant_values=7))
