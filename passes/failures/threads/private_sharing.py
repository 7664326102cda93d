"""FIS186: threads read private memory that other threads have written."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, failure


@failure
class PrivateSharing(Failure):
    code = "FIS186"
    name = "private-sharing"
    title = "threads read private memory that other threads have written"
    what = (
        "A reduction with several results and an op that reads these are in one dispatch. One result lies in private memory, which each thread has for "
        "itself: a thread writes the part that it computes, and then reads parts that other threads have computed. It finds there what was in its "
        "memory before. On an H100 992 of 1024 values of the program below are wrong, 0 most of them; 68 of 81 of PyTorch's `adaptive_avg_pool2d` of "
        "12x14 to 3x3."
    )
    why = (
        "IREE 3.13's TileAndFuse pipeline (on AMD and NVIDIA) distributes a reduction over threads by one result and its consumer by its own loops. It "
        "puts a result that both share into workgroup memory, but not each result of a reduction that has several."
    )
    remedy = "fissile places a fusion boundary behind the reduction, so that its results are stored before they are read."
    effect = Effect.MAY_BE_WRONG
    order = 34
    target = "sm_80"
    fails = """\
func.func @f(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<64x16xf32>
  %rows = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %both:2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x16xf32>) outs(%room, %start : tensor<64x16xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32, %sum: f32):
    %e = math.exp %a : f32
    %s = arith.addf %sum, %e : f32
    linalg.yield %e, %s : f32, f32
  } -> (tensor<64x16xf32>, tensor<64xf32>)
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%both#0, %both#1 : tensor<64x16xf32>, tensor<64xf32>) outs(%room : tensor<64x16xf32>) {
  ^bb0(%e: f32, %s: f32, %o: f32):
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  } -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=1}"

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.kernel.private_sharing import may_share_privately

        return may_share_privately(configured())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.private_sharing import shared_privately

        return Evidence(shared_privately(code))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        kinds = " and ".join(dict.fromkeys(one.type for one in evidence.buffers))
        return Finding(
            self.code,
            f"threads read {kinds} in private memory where other threads have written",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
