"""FIS159: the arctangent of two zeros is NaN."""

from __future__ import annotations

from ..failure import failure
from .scalar_functions import WHERE, ScalarFunctions, counted


@failure
class Arctangent(ScalarFunctions):
    code = "FIS159"
    name = "arctangent"
    title = "the numbers may be wrong: atan2(0, 0) is NaN"
    what = (
        "A dispatch computes atan2(y, x), the angle of a point. IREE's result is NaN instead of an angle if both numbers are 0 or both are infinite, "
        "and pi instead of -pi for y = -0 and a negative x. Other points are right."
    )
    why = (
        "IREE 3.13 computes `math.atan2` as the arctangent of y / x with corrections for the quadrant (the expansion of `math.atan2`), "
        f"{WHERE}"
    )
    remedy = "fissile computes the magnitude, with the angles of these points, and gives it the sign of y (`fissile-guard-arctangents`)."
    order = 48
    target = "llvm-cpu"
    fails = """\
func.func @f(%y: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%y, %x : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %_: f32):
    %angle = math.atan2 %a, %b : f32
    linalg.yield %angle : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-guard-arctangents"

    def functions_in(self, op):
        from fissile.passes.analysis.scalars.arctangents import arctangents_in

        return arctangents_in(op)

    def sentence(self, functions):
        return f"{counted(functions, 'arctangent')} of two numbers, for which IREE computes NaN if both are 0"
