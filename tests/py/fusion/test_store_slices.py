"""Slices that an op reads where the whole tensor lies: IREE rejects some of them on llvm-cpu; stored first, they are right."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics.build import compile_stock

SCATTER = """
func.func @main(%x: tensor<3x3x3x3xi8>, %i: tensor<i32>, %at: tensor<1x1xi32>, %u: tensor<1x3x2x3xi8>) -> tensor<1x3x2x3xi8> {
  %s = stablehlo.dynamic_slice %x, %i, %i, %i, %i, sizes = [1, 3, 2, 3] : (tensor<3x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2x3xi8>
  %r = "stablehlo.scatter"(%s, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %m = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %m : tensor<i8>
  }) : (tensor<1x3x2x3xi8>, tensor<1x1xi32>, tensor<1x3x2x3xi8>) -> tensor<1x3x2x3xi8>
  return %r : tensor<1x3x2x3xi8>
}"""
LARGE_SCATTER = """
func.func @main(%x: tensor<40x2x36x36xi8>, %at: tensor<3x1xi32>, %u: tensor<3x2x36x33xi8>) -> tensor<20x2x36x33xi8> {
  %s = stablehlo.slice %x [1:40:2, 0:2, 0:36, 2:35] : (tensor<40x2x36x36xi8>) -> tensor<20x2x36x33xi8>
  %r = "stablehlo.scatter"(%s, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    stablehlo.return %b : tensor<i8>
  }) : (tensor<20x2x36x33xi8>, tensor<3x1xi32>, tensor<3x2x36x33xi8>) -> tensor<20x2x36x33xi8>
  return %r : tensor<20x2x36x33xi8>
}"""
SORT = """
func.func @main(%x: tensor<4x9x6xi16>) -> tensor<3x7x6xi16> {
  %s = stablehlo.slice %x [0:3, 1:8, 0:6] : (tensor<4x9x6xi16>) -> tensor<3x7x6xi16>
  %r = "stablehlo.sort"(%s) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %m = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i16>, tensor<i16>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }) : (tensor<3x7x6xi16>) -> tensor<3x7x6xi16>
  return %r : tensor<3x7x6xi16>
}"""
GATHER = """
func.func @main(%x: tensor<33x8x8x4xi32>, %at: tensor<5xi32>) -> tensor<5x3x1x1xi32> {
  %s = stablehlo.slice %x [4:25:2, 3:8:2, 7:8:3, 3:4:1] : (tensor<33x8x8x4xi32>) -> tensor<11x3x1x1xi32>
  %r = "stablehlo.gather"(%s, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 1, 1>}> : (tensor<11x3x1x1xi32>, tensor<5xi32>) -> tensor<5x3x1x1xi32>
  return %r : tensor<5x3x1x1xi32>
}"""
PADDED = """
func.func @main(%x: tensor<4x4xi8>) -> tensor<2x10xi8> {
  %c1 = stablehlo.constant dense<1> : tensor<i8>
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %m = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }) : (tensor<4x4xi8>) -> tensor<4x4xi8>
  %r = stablehlo.pad %s, %c1, low = [-1, 0], high = [-1, 3], interior = [0, 1] : (tensor<4x4xi8>, tensor<i8>) -> tensor<2x10xi8>
  return %r : tensor<2x10xi8>
}"""
AT = np.array([0, 3, 10, 7, 7], np.int32)


def drawn(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return np.random.default_rng(7).integers(-50, 50, shape).astype(dtype)


def scattered() -> tuple[list[np.ndarray], np.ndarray]:
    x, u = drawn((3, 3, 3, 3), np.int8), drawn((1, 3, 2, 3), np.int8)
    return [x, np.int32(1), np.zeros((1, 1), np.int32), u], x[1:2, 0:3, 1:3, 0:3] + u


def scattered_into_a_large_one() -> tuple[list[np.ndarray], np.ndarray]:
    x, u = drawn((40, 2, 36, 36), np.int8), drawn((3, 2, 36, 33), np.int8)
    wanted = x[1::2, :, :, 2:35].copy()
    wanted[[4, 0, 19]] = u
    return [x, np.array([[4], [0], [19]], np.int32), u], wanted


def sorted_() -> tuple[list[np.ndarray], np.ndarray]:
    x = drawn((4, 9, 6), np.int16)
    return [x], np.sort(x[:3, 1:8], axis=1)


def gathered() -> tuple[list[np.ndarray], np.ndarray]:
    x = drawn((33, 8, 8, 4), np.int32)
    return [x, AT], x[4:25:2, 3:8:2, 7:8, 3:4][AT]


def sorted_and_padded() -> tuple[list[np.ndarray], np.ndarray]:
    x = drawn((4, 4), np.int8)
    wanted = np.ones((2, 10), np.int8)
    wanted[:, :7:2] = np.sort(x, axis=0)[1:3]
    return [x], wanted


CASES = {
    "scatter": (SCATTER, scattered, "FIS108"),
    "scatter into a large slice": (LARGE_SCATTER, scattered_into_a_large_one, "FIS102"),
    "sort": (SORT, sorted_, "FIS108"),
    "sort into a larger tensor": (PADDED, sorted_and_padded, "FIS108"),
    "gather": (GATHER, gathered, "FIS104"),
}


@pytest.mark.parametrize("case", CASES)
def test_slices_are_stored_first(tmp_path, case):
    text, example, code = CASES[case]
    inputs, wanted = example()
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is not None, "IREE takes it: needed no more"
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert [(f.code, f.severity.value) for f in report.findings] == [(code, "repaired")]
    assert "fissile-store-slices" in str(report.findings[0].helps)
    np.testing.assert_array_equal(run(output, inputs)[0], wanted)


BEHIND_ANOTHER = """
func.func @main(%x: tensor<3x3x3x3xi8>) -> tensor<6x4x3x8xi8> {
  %c1 = stablehlo.constant dense<1> : tensor<i8>
  %t = stablehlo.transpose %x, dims = [2, 3, 0, 1] : (tensor<3x3x3x3xi8>) -> tensor<3x3x3x3xi8>
  %s = "stablehlo.sort"(%t) <{dimension = 3 : i64}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %m = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }) : (tensor<3x3x3x3xi8>) -> tensor<3x3x3x3xi8>
  %r = stablehlo.pad %s, %c1, low = [0, 1, 0, 0], high = [1, 0, 0, 1], interior = [1, 0, 0, 2] : (tensor<3x3x3x3xi8>, tensor<i8>) -> tensor<6x4x3x8xi8>
  return %r : tensor<6x4x3x8xi8>
}"""


def test_the_dispatch_that_fails_is_edited_and_not_the_one_before(tmp_path):
    """Its operand carries the tag of the op that computes it, in a dispatch of its own."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(BEHIND_ANOTHER)
    flags = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
    assert compile_stock(source, tmp_path / "stock.vmfb", flags) is not None, "IREE takes it: needed no more"
    report = fissile.compile(source, output, flags)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS108", "repaired")]
    assert "fissile-store-slices" in str(report.findings[0].helps)
