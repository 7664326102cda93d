"""FIS416: a product over a dimension without elements is what it is added to; stock IREE crashes on it."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from compile_commands import stock
from entered_programs import all_computed, written

import fissile

MATMUL = """func.func @main(%a: tensor<4x0xf32>, %b: tensor<0x4xf32>) -> tensor<4x4xf32> {
  %three = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%three : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""
STABLEHLO = """func.func @main(%a: tensor<2x3x0xf32>, %b: tensor<2x0x5xf32>) -> tensor<2x3x5xf32> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x0xf32>, tensor<2x0x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
"""
TORCH = """func.func @main(%a: !torch.vtensor<[4,0],f32>, %b: !torch.vtensor<[0,3],f32>) -> !torch.vtensor<[4,3],f32> {
  %r = torch.aten.mm %a, %b : !torch.vtensor<[4,0],f32>, !torch.vtensor<[0,3],f32> -> !torch.vtensor<[4,3],f32>
  return %r : !torch.vtensor<[4,3],f32>
}
"""
PROGRAMS = {
    "linalg": (MATMUL, (4, 0), (0, 4), np.full((4, 4), 3)),
    "stablehlo": (STABLEHLO, (2, 3, 0), (2, 0, 5), np.zeros((2, 3, 5))),
    "torch": (TORCH, (4, 0), (0, 3), np.zeros((4, 3))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_is_what_is_added_to(tmp_path, name):
    text, left, right, wanted = PROGRAMS[name]
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS416", "repaired")]
    [answer] = all_computed(tmp_path, np.zeros(left, np.float32), np.zeros(right, np.float32))
    np.testing.assert_array_equal(answer, wanted)


def test_it_is_an_error_without_repair(tmp_path):
    written(tmp_path, MATMUL)
    with pytest.raises(fissile.CompileError) as raised:
        fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU, "--repair=off"])
    assert {one.code for one in raised.value.report.findings} & {"FIS416", "FIS107"}


def test_stock_crashes(tmp_path):
    """Where this fails IREE compiles such products, and FIS416 is not needed any more."""
    written(tmp_path, MATMUL)
    assert stock(tmp_path / "main.mlir", *CPU, "-o", tmp_path / "out.vmfb").returncode not in (0, 1)
