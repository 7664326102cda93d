"""FIS106: code generation of a dispatch does not end within its time limit."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Ending, failure
from .refusal import Refusal


@failure
class DispatchTimeout(Refusal):
    code = "FIS106"
    name = "dispatch-timeout"
    title = "code generation of a dispatch does not end within its time limit"
    what = (
        "The compiler is still busy on one dispatch after `--dispatch-timeout` seconds, by the clock and of processor time: a busy "
        "machine does not make a compile endless."
    )
    why = "Very large vectors are unrolled element by element."
    remedy = "A boundary or smaller tiles; raise the limit where the dispatch is merely slow."
    effect = Effect.ENDLESS
    order = 6
    ending = Ending.TIMED_OUT
    minimised = False
    target = "gfx1100"
    fails = """\
func.func @f(%x: tensor<1x50257xf32>) -> tensor<1x50257xf32> {
  %empty = tensor.empty() : tensor<1x50257xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<1x50257xf32>) outs(%empty : tensor<1x50257xf32>) -> tensor<1x50257xf32>
  return %r : tensor<1x50257xf32>
}
"""
    repaired_by = "fissile-decompose-softmax"
