"""Programs with ops of several front ends, of which IREE's input conversion takes one."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, filled

PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = tosa.LAST %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
WITH_TORCH = """
func.func @main(%x: !torch.vtensor<[4],f32>, %y: tensor<4xf32>) -> (!torch.vtensor<[4],f32>, tensor<4xf32>) {
  %0 = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = stablehlo.add %y, %y : tensor<4xf32>
  return %0, %1 : !torch.vtensor<[4],f32>, tensor<4xf32>
}
"""


@pytest.mark.parametrize("words", [[], ["--iree-input-type=stablehlo"]])
def test_stablehlo_and_tosa(tmp_path, words):
    text = filled(PROGRAM, LAST="exp")
    status, [finding] = compiled(tmp_path, text, *words)
    assert (status, finding["code"], finding["severity"]) == (0, "FIS421", "repaired")
    assert [place["line"] for place in finding["places"]] == [3, 4]
    (tmp_path / "entered.mlir").write_text(text)
    x = np.array([-1, 2, 0, -3], np.float32)
    np.testing.assert_allclose(all_computed(tmp_path, x)[0], np.exp(np.abs(x)) + np.abs(x), rtol=1e-5)


def test_stablehlo_and_torch(tmp_path):
    status, [finding] = compiled(tmp_path, WITH_TORCH)
    assert (status, finding["code"], finding["subject"]) == (0, "FIS421", "stablehlo, torch")


def test_an_op_that_its_own_front_end_does_not_lower(tmp_path):
    """It is blamed, not the mixture."""
    text = filled(PROGRAM, LAST="cast").replace(
        "(tensor<4xf32>) -> tensor<4xf32>", "(tensor<4xf32>) -> tensor<4xf32>"
    )
    text = text.replace(
        "stablehlo.abs %x : tensor<4xf32>",
        "stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>",
    )
    status, findings = compiled(tmp_path, text)
    assert status == 1
    assert [(f["code"], f["subject"], f["places"][0]["line"]) for f in findings] == [
        ("FIS407", "stablehlo.custom_call", 3)
    ]
