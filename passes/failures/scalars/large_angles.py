"""FIS214: sine, cosine and tangent lose digits with the size of the angle, up to all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..failure import failure
from .scalar_functions import WHERE, ScalarFunctions, different


@failure
class LargeAngles(ScalarFunctions):
    code = "FIS214"
    name = "large-angles"
    title = "the numbers may be wrong: sine, cosine and tangent of large angles lose digits"
    what = (
        "A dispatch computes sin, cos or tan of a number that may be large: a position in a text, a time step. The error is up to 1e-7 of the "
        "angle: cos(8191) is off by 2e-4, cos(131071) by 2e-3. From 3e9 on all digits are lost. Sine and tangent "
        "of small negative numbers are off by up to 2e-7, which may be all of their digits."
    )
    why = f"IREE 3.13 subtracts the quarter turns as a product that is rounded, {WHERE}"
    remedy = (
        "fissile computes the remainder of the angle exactly, in integers (`fissile-reduce-angles`). Angles that are known to be within 64, and "
        "float64, stay as they are."
    )
    order = 41
    target = "llvm-cpu"
    for_constants: ClassVar[Mapping[str, bool]] = {"halves": True}
    fails = """\
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %_: f32):
    %cosine = math.cos %a : f32
    linalg.yield %cosine : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-reduce-angles"

    def functions_in(self, op):
        from fissile.passes.analysis.scalars.angles import angles_in

        return list(angles_in(op))

    def sentence(self, functions):
        return f"{different(functions)} of an angle that may be large"
