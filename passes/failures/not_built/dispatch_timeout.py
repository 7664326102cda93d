"""FIS106: code generation for a dispatch exceeds its time limit."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Ending, failure
from .refusal import Refusal


@failure
class DispatchTimeout(Refusal):
    code = "FIS106"
    name = "dispatch-timeout"
    title = "code generation for a dispatch exceeds its time limit"
    what = (
        "The compiler has spent more than `--dispatch-timeout` seconds on one dispatch, both on the clock and in "
        "processor time: a busy machine alone does not trigger this finding."
    )
    why = "IREE unrolls very large vectors element by element."
    remedy = (
        "fissile tries a fusion boundary or smaller tiles. If the dispatch is merely slow, raise the limit."
    )
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
