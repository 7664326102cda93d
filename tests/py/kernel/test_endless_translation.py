"""What ends code generation and not the translation behind it is found by translating each dispatch, and repaired."""

import pytest

import fissile

# Stock IREE 3.13 takes minutes over it: an 8-bit float matmul of odd sizes, padded to matrix units.
MATMUL = """
func.func @main(%a: tensor<123x456xf8E4M3FNUZ>, %b: tensor<456x789xf8E4M3FNUZ>, %c: tensor<123x789xf32>) -> tensor<123x789xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<123x456xf8E4M3FNUZ>, tensor<456x789xf8E4M3FNUZ>) outs(%c : tensor<123x789xf32>) -> tensor<123x789xf32>
  return %r : tensor<123x789xf32>
}
"""
GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]


def test_a_dispatch_whose_translation_does_not_end_is_repaired(tmp_path):
    (tmp_path / "in.mlir").write_text(MATMUL)
    report = fissile.compile(
        tmp_path / "in.mlir", tmp_path / "out.vmfb", [*GFX942, "--dispatch-timeout=4"], check=False
    )
    [finding] = report.findings
    assert (finding.code, finding.severity.value) == ("FIS106", "repaired")
    assert finding.helps and finding.places[0].line == 3
    assert (tmp_path / "out.vmfb").stat().st_size > 0


# A softmax over columns, dequantised in the same dispatch: each thread holds a whole column in one vector, and LLVM's
# time for AMD GPUs grows with more than its square (1024 elements: 18 s, 2048: minutes).
COLUMNS = """
#swapped = affine_map<(a, b) -> (b, a)>
#same = affine_map<(a, b) -> (a, b)>
func.func @main(%x: tensor<{rows}x768xi8>) -> tensor<768x{rows}xf32> {{
  %scale = arith.constant 7.8125e-03 : f32
  %e = tensor.empty() : tensor<768x{rows}xf32>
  %d = linalg.generic {{indexing_maps = [#swapped, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{rows}x768xi8>) outs(%e : tensor<768x{rows}xf32>) {{
  ^bb0(%i: i8, %o: f32):
    %f = arith.sitofp %i : i8 to f32
    %m = arith.mulf %f, %scale : f32
    linalg.yield %m : f32
  }} -> tensor<768x{rows}xf32>
  %s = linalg.softmax dimension(1) ins(%d : tensor<768x{rows}xf32>) outs(%e : tensor<768x{rows}xf32>) -> tensor<768x{rows}xf32>
  return %s : tensor<768x{rows}xf32>
}}
"""


@pytest.mark.parametrize(("rows", "codes"), [(2048, ["FIS106"]), (256, [])])
def test_check_translates_code_of_unusual_size(tmp_path, rows, codes):
    (tmp_path / "in.mlir").write_text(COLUMNS.format(rows=rows))
    report = fissile.check(tmp_path / "in.mlir", ["gfx942"], dispatch_timeout=5)
    assert [f.code for f in report.findings if f.severity.value == "error"] == codes
