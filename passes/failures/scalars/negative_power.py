"""FIS147: a power of a negative number is NaN."""

from __future__ import annotations

from ..failure import failure
from .scalar_functions import WHERE, ScalarFunctions, counted


@failure
class NegativePower(ScalarFunctions):
    code = "FIS147"
    name = "negative-power"
    title = "the numbers may be wrong: a power of a negative number is NaN"
    what = (
        "A dispatch raises floats to a power, and IREE computes it as exp(exponent * log(base)): (-2)^5 is NaN instead "
        "of -32, and 0^0 is NaN instead of 1. Powers of positive numbers are right. The module compiles and runs."
    )
    why = (
        "MLIR's expansion of `math.powf` and `math.fpowi` assumes a positive base unless the exponent is a constant of a "
        f"short list (2 and 3 among them). IREE 3.13 uses it {WHERE}"
    )
    remedy = (
        "fissile computes the power of the magnitude and adds the sign (`fissile-sign-powers`); powers of positive "
        "numbers keep every bit. A base that is never negative (an absolute value, a square, an exponential, "
        "the maximum with a positive constant) is no finding."
    )
    order = 46
    upstream = "iree-org/iree#19996, llvm-project #193231"
    target = "llvm-cpu"
    fails = """\
func.func @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %_: f32):
    %power = math.powf %a, %b : f32
    linalg.yield %power : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-sign-powers"

    def functions_in(self, op):
        from fissile.passes.analysis.scalars.negative_powers import powers_in

        return powers_in(op)

    def sentence(self, functions):
        return f"{counted(functions, 'power')} of a number that may be negative, for which IREE computes NaN"
