"""FIS133: an attention's head dimension is tiled inside its softmax."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import failure
from .tiled_attention import TiledAttention


@failure
class AttentionHead(TiledAttention):
    code = "FIS133"
    name = "attention-head-tiled"
    title = "an attention's head dimension is tiled inside its softmax"
    what = (
        "IREE compiles the attention, and its numbers are wrong by as much as the largest output. On llvm-cpu this "
        "affects every static head dimension above 128, and a dynamic one whenever it exceeds the tile (4 to 16)."
    )
    why = (
        "A score is a sum over the head dimension, and the softmax needs the complete sum. IREE 3.13's llvm-cpu backend "
        "tiles a head dimension that is dynamic or above 128 (KernelDispatch.cpp; iree-org/iree#23304), and each "
        "iteration takes the softmax of a partial sum: an online attention can be tiled along every loop but this one. "
        "fissile reads the tile sizes of the configured dispatch."
    )
    remedy = (
        "fissile decomposes the attention into two contractions and a softmax (`fissile-decompose-attention`), which "
        "IREE compiles right. Intermediate values that IREE rounds to 16 bits (scaled queries, probabilities) stay in "
        "f32. A lowering configuration that leaves the head dimension untiled does not help: from 512 on IREE rejects "
        "its vectors (`large vector sizes`), and below that it takes at least 10 times the processor time."
    )
    effect = Effect.WRONG
    order = 12
    target = "llvm-cpu"
    fails = """\
func.func @f(%q: tensor<2x64x256xf32>, %k: tensor<2x64x256xf32>, %v: tensor<2x64x256xf32>) -> tensor<2x64x256xf32> {
  %empty = tensor.empty() : tensor<2x64x256xf32>
  %scale = arith.constant 0.0625 : f32
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x64x256xf32>, tensor<2x64x256xf32>, tensor<2x64x256xf32>, f32)
      outs(%empty : tensor<2x64x256xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x64x256xf32>
  return %r : tensor<2x64x256xf32>
}
"""
    repaired_by = "fissile-decompose-attention"

    def loop(self, tiled):
        if not tiled.summed:
            return ()
        why = "its head dimension, {extent}, is tiled by {tile} inside the softmax"
        return tiled.summed[0], why, Effect.WRONG
