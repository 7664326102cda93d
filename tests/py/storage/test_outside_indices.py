"""Gathers and scatters of StableHLO with indices outside: read as the nearest element and left out, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.rules import RULES

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
ROWS, WIDE, COUNT = 9, 4, 6
PROGRAM = f"""
func.func @main(%x: tensor<{ROWS}x{WIDE}xf32>, %at: tensor<{COUNT}x1xi32>, %both: tensor<{COUNT}x2xi32>, %rows: tensor<{COUNT}x{WIDE}xf32>)
    -> (tensor<{COUNT}x{WIDE}xf32>, tensor<{ROWS}x{WIDE}xf32>, tensor<{ROWS}x{WIDE}xf32>) {{
  %read = "stablehlo.gather"(%x, %at) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {WIDE}>}}>
      : (tensor<{ROWS}x{WIDE}xf32>, tensor<{COUNT}x1xi32>) -> tensor<{COUNT}x{WIDE}xf32>
  %added = "stablehlo.scatter"(%x, %at, %rows) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %s = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<{ROWS}x{WIDE}xf32>, tensor<{COUNT}x1xi32>, tensor<{COUNT}x{WIDE}xf32>) -> tensor<{ROWS}x{WIDE}xf32>
  %first = stablehlo.slice %rows [0:{COUNT}, 0:1] : (tensor<{COUNT}x{WIDE}xf32>) -> tensor<{COUNT}x1xf32>
  %values = stablehlo.reshape %first : (tensor<{COUNT}x1xf32>) -> tensor<{COUNT}xf32>
  %largest = "stablehlo.scatter"(%x, %both, %values) <{{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}}> ({{
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %s = stablehlo.maximum %old, %new : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<{ROWS}x{WIDE}xf32>, tensor<{COUNT}x2xi32>, tensor<{COUNT}xf32>) -> tensor<{ROWS}x{WIDE}xf32>
  return %read, %added, %largest : tensor<{COUNT}x{WIDE}xf32>, tensor<{ROWS}x{WIDE}xf32>, tensor<{ROWS}x{WIDE}xf32>
}}
"""
X = np.arange(ROWS * WIDE, dtype=np.float32).reshape(ROWS, WIDE)
NEW = 100 + np.arange(COUNT * WIDE, dtype=np.float32).reshape(COUNT, WIDE)
FAR = st.one_of(st.integers(-3, ROWS + 2), st.sampled_from([-(2**31), 2**31 - 1]))


@pytest.fixture(scope="module", params=PRESENT)
def built(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "in.mlir").write_text(PROGRAM)
    report = fissile.compile(folder / "in.mlir", folder / "out.vmfb", FLAGS[request.param])
    found = [(f.code, f.severity.value) for f in report.findings]
    assert found.count(("FIS209", "repaired")) == 3
    assert {code for code, _ in found} <= {"FIS209", "FIS110"}  # the masks of bits are narrow on Vulkan
    return folder / "out.vmfb", request.param


@given(st.lists(FAR, min_size=2 * COUNT, max_size=2 * COUNT))
@settings(max_examples=examples(10, 50), deadline=None)
def test_any_index_gives_what_stablehlo_defines(built, indices):
    path, runtime = built
    both = np.array(indices, np.int32).reshape(COUNT, 2)
    at = both[:, :1].copy()
    read, added, largest = run(path, [X, at, both, NEW], runtime)
    np.testing.assert_array_equal(read, X[np.clip(at[:, 0], 0, ROWS - 1)])
    wanted_sum, wanted_max = X.copy(), X.copy()
    for (row, column), new in zip(both, NEW, strict=True):
        if 0 <= row < ROWS:
            wanted_sum[row] += new
            if 0 <= column < WIDE:
                wanted_max[row, column] = max(wanted_max[row, column], new[0])
    np.testing.assert_array_equal(added, wanted_sum)
    np.testing.assert_array_equal(largest, wanted_max)


def test_one_number_that_is_an_index_of_two_dimensions(tmp_path):
    """The diagonal of a tensor that is not square."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text("""
func.func @main(%x: tensor<9x4xf32>, %at: tensor<3x1xi32>) -> tensor<3xf32> {
  %both = stablehlo.concatenate %at, %at, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %r = "stablehlo.gather"(%x, %both) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<9x4xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}""")
    fissile.compile(source, output, CPU)
    at = np.array([[2], [6], [-1]], np.int32)
    [read] = run(output, [X, at])
    np.testing.assert_array_equal(read, X[np.clip(at[:, 0], 0, 8), np.clip(at[:, 0], 0, 3)])


def test_stock_reads_what_lies_behind(tmp_path):
    """Where this fails IREE has changed, and FIS209 is not needed for gathers any more."""
    gather = PROGRAM.replace("%added, %largest", "%x, %x")
    (tmp_path / "in.mlir").write_text(gather)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    at = np.full((COUNT, 1), ROWS + 40, np.int32)
    read = run(tmp_path / "stock.vmfb", [X, at, np.zeros((COUNT, 2), np.int32), NEW])[0]
    assert (read != X[-1]).any()


def test_indices_inside_change_nothing(tmp_path):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(RULES["FIS209"].shown.repaired.replace("@f", "@main"))
    assert not fissile.compile(source, ours, CPU).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


def test_other_front_ends_are_refused_at_run_time(tmp_path):
    """Where no such index is defined, a call with one fails."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(f"""
func.func @main(%x: tensor<{ROWS}xf32>, %at: tensor<3x1xi32>, %new: tensor<3xf32>) -> tensor<{ROWS}xf32> {{
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%new, %at : tensor<3xf32>, tensor<3x1xi32>) outs(%x : tensor<{ROWS}xf32>) {{
  ^bb0(%update: f32, %old: f32):
    iree_linalg_ext.yield %update : f32
  }} -> tensor<{ROWS}xf32>
  return %r : tensor<{ROWS}xf32>
}}""")
    assert [f.code for f in fissile.compile(source, output, CPU).findings] == ["FIS202"]
    with pytest.raises(Exception, match="FAILED_PRECONDITION"):
        run(output, [X[:, 0].copy(), np.array([[1], [ROWS], [2]], np.int32), NEW[:3, 0].copy()])


def test_check_warns_and_changes_nothing(tmp_path):
    (tmp_path / "in.mlir").write_text(PROGRAM)
    found = fissile.check(tmp_path / "in.mlir", ["llvm-cpu"]).findings
    assert [(f.code, f.severity.value) for f in found if f.code.startswith("FIS2")] == [
        ("FIS209", "warning")
    ] * 3
