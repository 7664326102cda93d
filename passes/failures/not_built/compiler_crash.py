"""FIS107: the compiler crashed."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Ending, failure
from .refusal import Refusal


@failure
class CompilerCrash(Refusal):
    code = "FIS107"
    name = "compiler-crash"
    title = "the compiler crashed"
    what = "A signal ended the compiler process. Nothing was written."
    why = "IREE has a bug, or the machine ran out of memory."
    remedy = "The named reproducer shows the crash with stock tools; report it to IREE."
    effect = Effect.CRASHES
    order = 7
    ending = Ending.CRASHED
    may_vary = True
    target = "gfx942"
    fails = """\
func.func @f(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %v, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %s = arith.constant 0.5 : f32
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]>
      ins(%q, %k, %v, %s : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>, f32) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
"""
    repaired_by = "fissile-decompose-attention"
