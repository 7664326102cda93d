"""FIS103: code generation cannot distribute a dispatch over the threads of its target."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import NOT_DISTRIBUTED

from ..failure import failure
from .refusal import Refusal


@failure
class NotDistributed(Refusal):
    code = "FIS103"
    name = "not-distributed"
    title = "code generation cannot distribute a dispatch over the target's threads"
    what = "IREE stops with `failed to distribute`."
    why = "The vector distribution strategy that IREE chose has no layout for one of the ops."
    remedy = (
        "fissile tries another code generation pipeline or a fusion boundary, and computes f16 sums in f32."
    )
    effect = Effect.REFUSED
    order = 4
    messages = (NOT_DISTRIBUTED,)
    target = "gfx942"
    fails = """\
func.func @f(%a: tensor<64x128xf16>, %b: tensor<128x256xf16>) -> tensor<64x256xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<64x256xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x256xf16>) -> tensor<64x256xf16>
  %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x256xf16>) outs(%start : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %r : tensor<64x256xf16>
}
"""
    repaired_by = "fissile-widen-accumulators{ops=1}"
