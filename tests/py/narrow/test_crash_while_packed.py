"""A repair that takes the process along does not let wrong numbers out."""

import fissile

CHOSEN = """
func.func @main(%a: tensor<1xf16>, %b: tensor<i32>) -> (tensor<1x1xf16>, tensor<1x1xf16>) {
  %0 = tensor.extract %b[] : tensor<i32>
  %c = arith.constant 3 : i32
  %1 = arith.cmpi sgt, %0, %c : i32
  %2 = scf.if %1 -> (tensor<1xf16>) {
    %t = arith.addf %a, %a : tensor<1xf16>
    scf.yield %t : tensor<1xf16>
  } else {
    scf.yield %a : tensor<1xf16>
  }
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [1, 1] : tensor<1xf16> into tensor<1x1xf16>
  %k = arith.constant dense<1.5> : tensor<1x1xf16>
  %4 = arith.mulf %3, %k : tensor<1x1xf16>
  return %4, %3 : tensor<1x1xf16>, tensor<1x1xf16>
}
"""
"""Packed for default Vulkan, it crashes IREE 3.13 (BubbleUpExpandShapes): when this no longer fails, another program is needed here."""


def test_what_was_seen_to_be_wrong_is_withheld_by_the_process_that_comes_after(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(CHOSEN)
    report = fissile.compile(source, output, ["--iree-hal-target-device=vulkan"], check=False)
    assert {f.code for f in report.findings} == {"FIS110", "FIS903"}
    assert [f.code for f in report.errors] == ["FIS110"] and not output.exists()
    allowed = ["--iree-hal-target-device=vulkan", "--allow-wrong-numbers"]
    report = fissile.compile(source, output, allowed, check=False)
    assert not report.errors and output.exists()
