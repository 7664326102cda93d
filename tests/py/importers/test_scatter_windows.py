"""Scatters of windows, sums of booleans and annotations of JAX, which stock IREE refuses or computes wrongly: what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
BODY = {
    "add": "%z = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %z : tensor<f32>",
    "set": "stablehlo.return %y : tensor<f32>",
}


def scatter(operand: str, indices: str, updates: str, dims: str, body: str) -> str:
    return f"""
func.func @main(%a: tensor<{operand}xf32>, %i: tensor<{indices}xi32>, %u: tensor<{updates}xf32>) -> tensor<{operand}xf32> {{
  %r = "stablehlo.scatter"(%a, %i, %u) ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    {BODY[body]}
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<{dims}>}} : (tensor<{operand}xf32>, tensor<{indices}xi32>, tensor<{updates}xf32>) -> tensor<{operand}xf32>
  return %r : tensor<{operand}xf32>
}}
"""


def built(tmp_path, text: str, runtime: str, *codes: str):
    """The module that fissile makes of ``text``, with ``codes`` repaired and nothing else to report."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, list(FLAGS[runtime]), check=False)
    found = {(f.code, f.severity.value) for f in report.findings if f.severity.value != "note"}
    found -= {("FIS110", "repaired")}  # the mask of a scatter is stored in words on Vulkan
    assert report.exit_code == 0 and found == {(code, "repaired") for code in codes}, report.findings
    return output


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


PARTS = "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1"
ONE = "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]"


@pytest.mark.parametrize("runtime", PRESENT)
def test_windows_that_overlap_are_added(tmp_path, runtime):
    """A window that is not whole inside is left out."""
    at = np.int32([[0, 0], [1, 2], [3, 3], [-1, 0], [2, 4], [1, 3]])
    a, u = numbers(4, 6), numbers(6, 2, 3)
    wanted = a.copy()
    for (row, column), update in zip(at, u, strict=True):
        if 0 <= row <= 2 and 0 <= column <= 3:
            wanted[row : row + 2, column : column + 3] += update
    output = built(tmp_path, scatter("4x6", "6x2", "6x2x3", PARTS, "add"), runtime, "FIS421", "FIS209")
    np.testing.assert_array_equal(run(output, [a, at, u], runtime)[0], wanted)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS[runtime]) is not None


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("at", ([1, 2], [2, 3], [3, 0], [-1, 1]))
@pytest.mark.parametrize(("body", "codes"), (("add", ("FIS421", "FIS209")), ("set", ("FIS209",))))
def test_one_window(tmp_path, runtime, at, body, codes):
    a, u = numbers(4, 6), numbers(2, 3)
    wanted, (row, column) = a.copy(), at
    if 0 <= row <= 2:
        part = wanted[row : row + 2, column : column + 3]
        part[...] = part + u if body == "add" else u
    output = built(tmp_path, scatter("4x6", "2", "2x3", ONE, body), runtime, *codes)
    np.testing.assert_array_equal(run(output, [a, np.int32(at), u], runtime)[0], wanted)


def test_stock_moves_a_window_inside(tmp_path):
    """Where this fails IREE has changed."""
    (tmp_path / "in.mlir").write_text(scatter("4x6", "2", "2x3", ONE, "set"))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    a, u = numbers(4, 6), -numbers(2, 3)
    made = run(tmp_path / "stock.vmfb", [a, np.int32([3, 0]), u])[0]
    np.testing.assert_array_equal(made[2:, :3], u)


BATCHES = (
    "update_window_dims = [2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [1], "
    "scatter_dims_to_operand_dims = [1], index_vector_dim = 2"
)


@pytest.mark.parametrize("runtime", PRESENT)
def test_windows_of_a_batch(tmp_path, runtime):
    a, u, at = numbers(2, 8, 6), numbers(3, 2, 2, 6), np.int32([[0, 6], [3, 7], [1, 5]])[..., None]
    wanted = a.copy()
    for number in range(3):
        for batch in range(2):
            row = at[number, batch, 0]
            if row <= 6:
                wanted[batch, row : row + 2] += u[number, batch]
    text = scatter("2x8x6", "3x2x1", "3x2x2x6", BATCHES, "add")
    output = built(tmp_path, text, runtime, "FIS421", "FIS209")
    np.testing.assert_array_equal(run(output, [a, at, u], runtime)[0], wanted)


CROSSED = """
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) ({
  ^bb0(%x: tensor<f32>, %p: tensor<f32>, %y: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    %t = stablehlo.maximum %p, OTHER : tensor<f32>
    stablehlo.return %s, %t : tensor<f32>, tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8xf32>, tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_several_tensors(tmp_path, runtime):
    a, b, u, v, at = numbers(8), numbers(8), numbers(3), 9 * numbers(3), np.int32([[1], [1], [9]])
    output = built(tmp_path, CROSSED.replace("OTHER", "%q"), runtime, "FIS421", "FIS209")
    first, second = run(output, [a, b, at, u, v], runtime)
    np.testing.assert_array_equal(first, a + np.eye(8, dtype=np.float32)[1] * 3)
    np.testing.assert_array_equal(second, np.maximum(b, np.eye(8, dtype=np.float32)[1] * 18))


def test_tensors_that_need_each_other_are_refused(tmp_path):
    (tmp_path / "in.mlir").write_text(CROSSED.replace("OTHER", "%y"))
    report = fissile.compile(
        tmp_path / "in.mlir", tmp_path / "out.vmfb", list(FLAGS["local-task"]), check=False
    )
    [finding] = [f for f in report.findings if f.severity.value == "error"]
    assert (finding.code, finding.subject) == ("FIS407", "stablehlo.scatter") and finding.helps


SUMS = """
func.func @main(%a: tensor<4x3xi1>, %b: tensor<4x3xi1>) -> (tensor<4x3xi1>, tensor<4xi1>) {
  %no = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.add %a, %b : tensor<4x3xi1>
  %s = stablehlo.reduce(%a init: %no) applies stablehlo.add across dimensions = [1] : (tensor<4x3xi1>, tensor<i1>) -> tensor<4xi1>
  return %r, %s : tensor<4x3xi1>, tensor<4xi1>
}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_a_sum_of_booleans_is_a_disjunction(tmp_path, runtime):
    a = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 1, 1]], bool)
    b = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]], bool)
    output = built(tmp_path, SUMS, runtime, "FIS195")
    whole, rows = run(output, [a, b], runtime)
    np.testing.assert_array_equal(whole.astype(bool), a | b)
    np.testing.assert_array_equal(rows.astype(bool), a.any(axis=1))


PLACED = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.custom_call @TARGET(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.add %r, %r : tensor<4xf32>
  return %s : tensor<4xf32>
}
"""


@pytest.mark.parametrize("target", ("Sharding", "annotate_device_placement"))
def test_annotations_of_jax_compute_nothing(tmp_path, target):
    output = built(tmp_path, PLACED.replace("TARGET", target), "local-task", "FIS421")
    np.testing.assert_array_equal(run(output, [numbers(4)])[0], 2 * numbers(4))


SHARED = """
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  %q = "stablehlo.scatter"(%b, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %r, %q : tensor<8xf32>, tensor<8xf32>
}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_two_scatters_with_the_same_indices_are_both_kept_inside(tmp_path, runtime):
    a, b, u, at = numbers(8), 2 * numbers(8), numbers(3), np.int32([[1], [1], [9]])
    output = built(tmp_path, SHARED, runtime, "FIS209")
    added = np.eye(8, dtype=np.float32)[1] * 3
    for made, given in zip(run(output, [a, b, at, u], runtime), (a, b), strict=True):
        np.testing.assert_array_equal(made, given + added)


BATCH = "input_batching_dims = [0], scatter_indices_batching_dims = [0]"
AFTER = "update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [2], scatter_indices_batching_dims = [0]"


@pytest.mark.parametrize("runtime", PRESENT)
def test_windows_in_front_of_what_is_addressed(tmp_path, runtime):
    """Per-example gradients of a cross-entropy: a window of one element between the batch and the classes."""
    dims = f"update_window_dims = [1], inserted_window_dims = [2], {BATCH}, scatter_dims_to_operand_dims = [2], index_vector_dim = 2"
    a, at, u = numbers(6, 1, 4), np.int32([0, 3, 1, 1, 4, -1]).reshape(6, 1, 1), numbers(6, 1, 1)
    wanted = a.copy()
    for row in range(4):
        wanted[row, 0, at[row, 0, 0]] += u[row, 0, 0]
    output = built(tmp_path, scatter("6x1x4", "6x1x1", "6x1x1", dims, "add"), runtime, "FIS421", "FIS209")
    np.testing.assert_array_equal(run(output, [a, at, u], runtime)[0], wanted)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS[runtime]) is not None


def test_a_batch_behind_the_window(tmp_path):
    dims = f"{AFTER}, scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    a, at, u = numbers(6, 3, 4), np.int32([[5], [0], [2], [2]]), numbers(4, 3)
    wanted = a.copy()
    for column in range(4):
        wanted[at[column, 0], :, column] += u[column]
    text = scatter("6x3x4", "4x1", "4x3", dims, "add")
    output = built(tmp_path, text, "local-task", "FIS421", "FIS209")
    np.testing.assert_array_equal(run(output, [a, at, u], "local-task")[0], wanted)


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("count", (None, 2))
def test_an_index_of_no_numbers(tmp_path, runtime, count):
    """Each window is the whole operand."""
    windows = [] if count is None else [count]
    first = len(windows)
    dims = f"update_window_dims = [{first}, {first + 1}]" + (", index_vector_dim = 1" if windows else "")
    indices, updates = ("x".join(map(str, (*windows, *rest))) for rest in ((0,), (3, 4)))
    text = scatter("3x4", indices, updates, dims, "add")
    head, _, body = text.partition(f", %i: tensor<{indices}xi32>")
    constant = f"\n  %i = stablehlo.constant dense<> : tensor<{indices}xi32>\n  %r ="
    a, u = numbers(3, 4), numbers(*windows, 3, 4)
    output = built(tmp_path, head + body.replace("\n  %r =", constant), runtime, "FIS421")
    made = run(output, [a, u], runtime)[0]
    np.testing.assert_array_equal(made, a + (u.sum(axis=0) if windows else u))
