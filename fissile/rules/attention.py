"""Findings about attentions that IREE tiles where it must not: FIS133 and FIS134."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS133",
    "attention-head-tiled",
    "an attention's head dimension is tiled inside of its softmax",
    "IREE builds the attention, and its numbers are wrong by up to all of the largest output: on llvm-cpu for every head dimension "
    "above 128, and for a dynamic one wherever it is above the tile (4 to 16).",
    "A score is a sum over the head dimension, and the softmax needs the whole sum. IREE 3.13's llvm-cpu tiles a head dimension that "
    "is dynamic or above 128 (KernelDispatch.cpp; iree-org/iree#23304), and every step of that loop takes the softmax of its part of "
    "the sum: an online attention can be tiled along all loops but this one. fissile reads the tile sizes of the configured dispatch.",
    "fissile decomposes the attention into two contractions and a softmax (`fissile-decompose-attention`), which IREE builds right. "
    "What IREE rounds to 16 bits in between (scaled queries, probabilities) stays in f32. A lowering configuration that leaves the head "
    "dimension whole is no way out: IREE refuses its vectors from 512 on (`large vector sizes`), and below takes 10 times the processor time and more.",
    example="""func.func @f(%q: tensor<2x64x256xf32>, %k: tensor<2x64x256xf32>, %v: tensor<2x64x256xf32>) -> tensor<2x64x256xf32> {
  %e = tensor.empty() : tensor<2x64x256xf32>
  %scale = arith.constant 0.0625 : f32
  %r = iree_linalg_ext.attention {indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]}
      ins(%q, %k, %v, %scale : tensor<2x64x256xf32>, tensor<2x64x256xf32>, tensor<2x64x256xf32>, f32) outs(%e : tensor<2x64x256xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x64x256xf32>
  return %r : tensor<2x64x256xf32>
}   // llvm-cpu: vector_reduction = [0, 0, 16, 16, 0] tiles k, the head dimension""",
    repaired="""%scores = linalg.generic …   // scale * log2(e) * sum over all 256 of k: tensor<2x64x64xf32>
%max = linalg.generic …      // of each row
%powers = linalg.generic …   // 2^(score - max)
%sum = linalg.generic …      // of each row
%r = linalg.generic …        // powers times %v, over the sum""",
    effect=Effect.WRONG,
)
define(
    "FIS134",
    "attention-tiles-depend",
    "an attention is tiled along a loop whose tiles are not independent",
    "IREE builds the attention, and its numbers are wrong. A causal mask or a position bias that the region computes "
    "from `iree_linalg_ext.index` (PyTorch's flex_attention with mask_mod or score_mod) begins anew in every tile. An online "
    "attention that continues earlier maxima and sums adds to them once for every tile of the values' width.",
    "IREE 3.13 tiles an attention by slicing its operands and copies the region as it is: an index counts from the beginning of the "
    "tile, not of the tensor (OnlineAttentionOp::getTiledImplementation). Maxima and sums do not have the loop over the width, and "
    "are updated in place tile by tile. Measured on llvm-cpu; on GPUs it is read from the configured dispatch.",
    "fissile decomposes the attention (`fissile-decompose-attention`): the index becomes `linalg.index`, which IREE keeps right under tiling.",
    example="""^bb0(%score: f32):
  %row = iree_linalg_ext.index 1 : index
  %column = iree_linalg_ext.index 2 : index
  %seen = arith.cmpi sge, %row, %column : index
  %masked = arith.select %seen, %score, %minus_infinity : f32
  iree_linalg_ext.yield %masked : f32        // rows and columns tiled by 2 and 8: the mask of the first tile, everywhere""",
    repaired="""linalg.generic … {
  %row = linalg.index 1 : index
  %column = linalg.index 2 : index
  … }""",
    effect=Effect.WRONG,
)
