"""FIS187: a reduction over several subgroups keeps the result of one subgroup alone."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, failure


@failure
class LostPartials(Failure):
    code = "FIS187"
    name = "lost-partial-results"
    title = "a reduction keeps the partial result of one subgroup alone"
    what = (
        "Several subgroups of a workgroup share a reduction. Each stores its partial result in workgroup memory, and all threads then read the first "
        "subgroup's alone: what the others have computed is lost. An attention with heads of 256 on an H100: each of its 16384 values is wrong."
    )
    why = (
        "IREE 3.13's VectorDistribute pipeline (on AMD and NVIDIA) reads the partial results with the threads that the reduction has in a subgroup. Where "
        "these are fewer than the subgroups, it reads one slot (GPUNestedLayoutDistributionPatterns.cpp)."
    )
    remedy = (
        "fissile decomposes the attention (`fissile-decompose-attention`): its contractions and its softmax are reductions of their own, for which IREE "
        "chooses other tiles."
    )
    effect = Effect.WRONG
    order = 32
    target = "sm_80"
    fails = """\
func.func @f(%q: tensor<1x64x256xf32>, %k: tensor<1x64x256xf32>, %v: tensor<1x64x256xf32>) -> tensor<1x64x256xf32> {
  %empty = tensor.empty() : tensor<1x64x256xf32>
  %scale = arith.constant 0.0625 : f32
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<1x64x256xf32>, tensor<1x64x256xf32>, tensor<1x64x256xf32>, f32)
      outs(%empty : tensor<1x64x256xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<1x64x256xf32>
  return %r : tensor<1x64x256xf32>
}
"""
    repaired_by = "fissile-decompose-attention"

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.kernel.lost_partials import may_lose_partials

        return may_lose_partials(configured())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.lost_partials import lost_partials

        return Evidence(lost_partials(code))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        kinds = " and ".join(dict.fromkeys(one.type for one in evidence.buffers))
        return Finding(
            self.code,
            f"subgroups store partial results in {kinds}, and threads read those of one subgroup",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
