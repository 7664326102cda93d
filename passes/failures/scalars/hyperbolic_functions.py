"""FIS193: hyperbolic functions and their inverses lose digits, up to all of them."""

from __future__ import annotations

from ..failure import failure
from .scalar_functions import WHERE, ScalarFunctions, different


@failure
class HyperbolicFunctions(ScalarFunctions):
    code = "FIS193"
    name = "hyperbolic-functions"
    title = "the numbers may be wrong: asinh of negative numbers, and other hyperbolic functions, lose digits"
    what = (
        "A dispatch computes sinh, cosh, asinh, acosh or atanh. asinh(-100) is -5.2989 instead of -5.2983, and asinh(-10000) "
        "is -inf; acosh of numbers above 1.9e19 is inf, and of those below -4096 -inf instead of NaN. sinh, asinh and atanh of numbers near 0 are 0 or have few "
        "digits; sinh(89) and cosh(89) are inf."
    )
    why = (
        "IREE 3.13 expands asinh(x) to log(x + sqrt(x * x + 1)), a difference of two nearly equal numbers where x is negative, and the others "
        f"alike, {WHERE}"
    )
    remedy = "fissile computes them of the magnitude, from log(1 + v) and exp(x) - 1 (`fissile-rewrite-hyperbolics`). float64 stays as it is."
    order = 50
    target = "llvm-cpu"
    fails = """\
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %_: f32):
    %area = math.asinh %a : f32
    linalg.yield %area : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-rewrite-hyperbolics"

    def functions_in(self, op):
        from fissile.passes.analysis.scalars.hyperbolics import hyperbolics_in

        return hyperbolics_in(op)

    def sentence(self, functions):
        return f"{different(functions)}, of which IREE loses digits"
