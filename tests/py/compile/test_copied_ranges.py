"""flow.tensor.slice and flow.tensor.update of parts with gaps: stock IREE copies one range of bytes (FIS149)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
SLICE = """
func.func @main(%a: tensor<4x6xi32>) -> tensor<2x3xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = flow.tensor.slice %a[%c1, %c2 for %c2, %c3] : tensor<4x6xi32> -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}"""
DYNAMIC = """
func.func @main(%a: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi32>
  %n = tensor.dim %a, %c1 : tensor<?x?xi32>
  %w = arith.divui %n, %m : index
  %r = flow.tensor.slice %a[%c0, %c1 for %m, %w] : tensor<?x?xi32>{%m, %n} -> tensor<?x?xi32>{%m, %w}
  return %r : tensor<?x?xi32>
}"""
PRODUCED = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<?x4xi64>, %x: tensor<6xi32>, %w: index) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xi64>
  %e = tensor.empty(%n) : tensor<?x4xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xi64>) outs(%e : tensor<?x4xi32>) {
  ^bb0(%p: i64, %o: i32):
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%j] : tensor<6xi32>
    %q = arith.trunci %p : i64 to i32
    %s = arith.addi %q, %v : i32
    linalg.yield %s : i32
  } -> tensor<?x4xi32>
  %r = flow.tensor.slice %y[%c1, %c1 for %c2, %w] : tensor<?x4xi32>{%n} -> tensor<?x?xi32>{%c2, %w}
  return %r : tensor<?x?xi32>
}"""
UPDATE = """
func.func @main(%a: tensor<4x6xi32>, %u: tensor<2x3xi32>) -> tensor<4x6xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = flow.tensor.update %u, %a[%c1, %c2] : tensor<2x3xi32> -> %a as tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}"""
NOTHING_AT_THE_END = """
func.func @main(%a: tensor<4x6xi32>, %i: index, %w: index) -> tensor<2x?xi32> {
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %r = flow.tensor.slice %a[%i, %c6 for %c2, %w] : tensor<4x6xi32> -> tensor<2x?xi32>{%w}
  return %r : tensor<2x?xi32>
}"""
IN_ONE_PIECE = """
func.func @main(%a: tensor<4x6xi32>, %u: tensor<1x3xi32>) -> (tensor<2x6xi32>, tensor<4x6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %r = flow.tensor.slice %a[%c1, %c0 for %c2, %c6] : tensor<4x6xi32> -> tensor<2x6xi32>
  %s = flow.tensor.update %u, %a[%c1, %c2] : tensor<1x3xi32> -> %a as tensor<4x6xi32>
  return %r, %s : tensor<2x6xi32>, tensor<4x6xi32>
}"""
A = np.arange(24, dtype=np.int32).reshape(4, 6)
U = -np.arange(1, 7, dtype=np.int32).reshape(2, 3)


def updated() -> np.ndarray:
    wanted = A.copy()
    wanted[1:3, 2:5] = U
    return wanted


CASES = {
    "slice": (SLICE, [A], A[1:3, 2:5]),
    "dynamic slice": (DYNAMIC, [A], A[:, 1:2]),
    "update": (UPDATE, [A, U], updated()),
}


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", CASES)
def test_a_part_with_gaps_is_copied(tmp_path, runtime, case):
    text, inputs, wanted = CASES[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, [*FLAGS[runtime], "--guard=off"])
    assert [(f.code, f.severity.value, f.effect) for f in report.findings] == [
        ("FIS149", "repaired", Effect.WRONG)
    ]
    np.testing.assert_array_equal(run(output, inputs, runtime)[0], wanted)


def test_a_part_of_what_a_dispatch_computes_is_copied_from_a_tensor(tmp_path):
    """A dispatch that computed all of it to take a part would need stack of unknown size."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PRODUCED)
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS149", "repaired")]


def test_a_part_without_elements_may_begin_at_the_end(tmp_path):
    """IREE rejects a tensor.extract_slice whose constant position is the end, also where the size is 0."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(NOTHING_AT_THE_END)
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS149", "repaired")]
    assert run(output, [A, np.int64(1), np.int64(0)])[0].shape == (2, 0)


@pytest.mark.parametrize("case", CASES)
def test_stock_copies_one_range(tmp_path, case):
    """Where this fails IREE has changed, and FIS149 is not needed any more."""
    text, inputs, wanted = CASES[case]
    (tmp_path / "in.mlir").write_text(text)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    assert (run(tmp_path / "stock.vmfb", inputs)[0] != wanted).any()


def test_a_part_in_one_piece_stays(tmp_path):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(IN_ONE_PIECE)
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"]).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


def test_verify_compares_with_a_reference_that_is_right(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(SLICE)
    report = fissile.verify(source, on=PRESENT, seeds=(0,))
    assert report.exit_code == 0 and "FIS132" not in {f.code for f in report.findings}, report.findings
