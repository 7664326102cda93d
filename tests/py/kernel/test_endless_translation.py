"""What ends code generation and not the translation behind it is found by translating each dispatch, and repaired."""

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
