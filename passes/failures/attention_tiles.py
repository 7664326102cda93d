"""FIS134: an attention is tiled along a loop whose iterations depend on each other."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import failure
from .tiled_attention import TiledAttention


@failure
class AttentionTiles(TiledAttention):
    code = "FIS134"
    name = "attention-tiles-depend"
    title = "an attention is tiled along a loop whose iterations depend on each other"
    what = (
        "IREE compiles the attention, and its numbers are wrong. If the region computes a causal mask or a position "
        "bias from `iree_linalg_ext.index` (PyTorch's flex_attention with mask_mod or score_mod), it starts again from "
        "zero in every tile. If an online attention continues earlier maxima and sums, it updates them once for every "
        "tile of the values' width."
    )
    why = (
        "IREE 3.13 tiles an attention by slicing its operands and copies the region unchanged, so an index counts from "
        "the start of the tile, not of the tensor (OnlineAttentionOp::getTiledImplementation). Maxima and sums have no "
        "loop over the width and are updated in place by every tile. Measured on llvm-cpu; on GPUs fissile concludes it "
        "from the configured dispatch."
    )
    remedy = (
        "fissile decomposes the attention (`fissile-decompose-attention`): the index becomes `linalg.index`, which IREE "
        "tiles correctly."
    )
    effect = Effect.WRONG
    order = 14
    target = "llvm-cpu"
    fails = """\
func.func @f(%q: tensor<2x64x64xf32>, %k: tensor<2x64x64xf32>, %v: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  %empty = tensor.empty() : tensor<2x64x64xf32>
  %none = arith.constant -1.0e+30 : f32
  %scale = arith.constant 0.0625 : f32
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x64x64xf32>, tensor<2x64x64xf32>, tensor<2x64x64xf32>, f32)
      outs(%empty : tensor<2x64x64xf32>) {
  ^bb0(%score: f32):
    %row = iree_linalg_ext.index 1 : index
    %column = iree_linalg_ext.index 2 : index
    %seen = arith.cmpi sge, %row, %column : index
    %masked = arith.select %seen, %score, %none : f32
    iree_linalg_ext.yield %masked : f32
  } -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}
"""
    repaired_by = "fissile-decompose-attention"

    def loop(self, tiled):
        if tiled.summed:
            return ()
        if tiled.indexed:
            why = "its region reads the index of a loop of {extent} that is tiled by {tile}"
            return tiled.indexed[0], why, Effect.WRONG
        why = "its running maxima and sums are updated by each tile of {tile} of a width of {extent}"
        return tiled.repeated[0], why, Effect.WRONG if tiled.in_turn else Effect.MAY_BE_WRONG
