"""Element types that IREE's ABI has no name for: the argument is named, with a way out that builds."""

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

GFX942 = flags_for(find_target("gfx942"))
BODY = """
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%w : tensor<8xf4E2M1FN>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f4E2M1FN, %o: f32):
    %y = arith.extf %x : f4E2M1FN to f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
GIVEN = "func.func @layer(%s: tensor<2xf32>, %w: tensor<8xf4E2M1FN>) -> tensor<8xf32> {" + BODY
AS_BYTES = (
    "func.func @layer(%s: tensor<2xf32>, %b: tensor<4xi8>) -> tensor<8xf32> {\n"
    "  %w = flow.tensor.bitcast %b : tensor<4xi8> -> tensor<8xf4E2M1FN>" + BODY
)


def test_the_argument_is_named_and_the_way_out_builds(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(GIVEN)
    report = fissile.compile(source, tmp_path / "x.vmfb", GFX942, check=False)
    [finding] = report.findings
    assert (finding.code, report.exit_code) == ("FIS410", 1)
    assert "argument 1 of @layer" in finding.message and "f4E2M1FN" in finding.message
    assert "tensor<4xi8>" in finding.helps[0].title
    source.write_text(AS_BYTES)
    assert not [
        f
        for f in fissile.compile(source, tmp_path / "x.vmfb", GFX942, check=False).findings
        if f.code == "FIS410"
    ]
