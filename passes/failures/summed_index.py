"""FIS191: a gather is read as consecutive elements."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, Stage, failure


@failure
class SummedIndex(Failure):
    code = "FIS191"
    name = "summed-index"
    title = "the numbers will be wrong: a gather is read as consecutive elements"
    what = (
        "The body of an op reads a tensor at an index that is a sum: of the index of a loop, and of something that differs from one round "
        "of the same loop to the next. Examples are `x[k[i] + i]`, `x[i + i]` and `x[i + i / 2]`. The code reads the elements that follow "
        "the first one of each vector instead."
    )
    why = (
        "MLIR's vectoriser, as of IREE 3.13, takes such a read for a contiguous load as soon as one term of the sum is the loop's index, and does "
        "not look at the other terms. It does so where a vector is along one loop only: on llvm-cpu (measured), and on AMD and NVIDIA GPUs by the generated "
        "code (`fissile check --simulate`). SPIR-V reads element by element."
    )
    remedy = "fissile writes the sum as a difference, which the vectoriser gathers (`fissile-gather-sums`)."
    effect = Effect.WRONG
    stage = Stage.CONFIGURED
    order = 43
    target = "llvm-cpu"
    fails = """\
func.func @f(%x: tensor<256xf32>, %k: tensor<64xi64>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %mask = arith.constant 127 : i64
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%k : tensor<64xi64>) outs(%empty : tensor<64xf32>) {
  ^bb0(%offset: i64, %_: f32):
    %i = linalg.index 0 : index
    %small = arith.andi %offset, %mask : i64
    %start = arith.index_cast %small : i64 to index
    %at = arith.addi %start, %i : index
    %element = tensor.extract %x[%at] : tensor<256xf32>
    linalg.yield %element : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-gather-sums"

    def concerns(self, backend):
        return not backend.spirv

    def may_occur(self, dispatch, configured):
        return bool(_misread(dispatch, dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(count=len(_misread(dispatch, code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        gathers = "a gather is" if evidence.count == 1 else f"{evidence.count} gathers are"
        return Finding(
            self.code,
            f"{gathers} read as consecutive elements: the numbers will be wrong",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _misread(dispatch, code):
    from fissile.passes.analysis.scalars.bodies import ops_in_bodies
    from fissile.passes.analysis.scalars.summed_indices import misread_sums

    return [extract for op in ops_in_bodies(code) for extract in misread_sums(op, dispatch.codegen)]
