"""FIS133: an attention's head dimension is tiled inside of its softmax."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import failure
from .tiled_attention import TiledAttention


@failure
class AttentionHead(TiledAttention):
    code = "FIS133"
    name = "attention-head-tiled"
    title = "an attention's head dimension is tiled inside of its softmax"
    what = (
        "IREE builds the attention, and its numbers are wrong by up to all of the largest output: on llvm-cpu for every head dimension "
        "above 128, and for a dynamic one wherever it is above the tile (4 to 16)."
    )
    why = (
        "A score is a sum over the head dimension, and the softmax needs the whole sum. IREE 3.13's llvm-cpu tiles a head dimension that "
        "is dynamic or above 128 (KernelDispatch.cpp; iree-org/iree#23304), and every step of that loop takes the softmax of its part of "
        "the sum: an online attention can be tiled along all loops but this one. fissile reads the tile sizes of the configured dispatch."
    )
    remedy = (
        "fissile decomposes the attention into two contractions and a softmax (`fissile-decompose-attention`), which IREE builds right. "
        "What IREE rounds to 16 bits in between (scaled queries, probabilities) stays in f32. A lowering configuration that leaves the head "
        "dimension whole is no way out: IREE refuses its vectors from 512 on (`large vector sizes`), and below takes 10 times the processor time and more."
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
        why = "its head dimension, {extent}, is tiled by {tile} inside of the softmax"
        return tiled.summed[0], why, Effect.WRONG
