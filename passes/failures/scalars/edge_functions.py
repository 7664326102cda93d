"""FIS227: cube roots of infinity, and on Vulkan arc functions outside of their range and log1p near 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..failure import failure
from .scalar_functions import WHERE, ScalarFunctions, different


@failure
class EdgeFunctions(ScalarFunctions):
    code = "FIS227"
    name = "edge-functions"
    title = "the numbers may be wrong: functions at the edge of their range"
    what = (
        "A dispatch computes a cube root, which is NaN for infinity. On Vulkan also acos or asin, which are numbers instead of NaN outside of -1 … 1 "
        "(acos(2.1) on lavapipe), or log1p, which has few digits below 1e-3 and none below 6e-8: log1p(3e-8) is 0 or 6e-8. A softplus is computed with it."
    )
    why = (
        f"IREE 3.13 expands a cube root to a power and divides infinity by infinity, {WHERE} In SPIR-V acos and asin are GLSL's functions, which are not "
        "defined there, and log1p(x) is log(1 + x)."
    )
    remedy = "fissile chooses the number at the edge, and computes log1p of small numbers by a series (`fissile-guard-edges`). float64 stays as it is."
    order = 52
    target = "vulkan"
    for_constants: ClassVar[Mapping[str, bool]] = {"spirv": False}
    fails = """\
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %_: f32):
    %log = math.log1p %a : f32
    linalg.yield %log : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-guard-edges"

    def functions_in(self, op):
        from fissile.passes.analysis.scalars.edges import edges_in

        return edges_in(op, spirv=False)

    def may_occur(self, dispatch, configured):
        return bool(_functions(dispatch, dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(types=tuple(one.name.removeprefix("math.") for one in _functions(dispatch, code)))

    def sentence(self, functions):
        return f"{different(functions)} at the edge of its range"


def _functions(dispatch, code):
    from fissile.passes.analysis.scalars.edges import edges_in
    from fissile.passes.iree.backends import backend_named

    return edges_in(code, spirv=backend_named(dispatch.target.backend).spirv)
