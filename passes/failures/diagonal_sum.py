"""FIS143: threads of a subgroup add up only the diagonal of a tile."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, failure


@failure
class DiagonalSum(Failure):
    code = "FIS143"
    name = "diagonal-sum"
    title = "the numbers will be wrong: threads sum only the diagonal of a tile"
    what = (
        "A sum over two or more dimensions is distributed over the threads of a subgroup, and its terms go through "
        "workgroup memory (as in a sum of gathered elements). Each thread reads back the element whose index equals the "
        "thread's number in every dimension. The module compiles and runs."
    )
    why = (
        "IREE 3.13's VectorReductionToGPU uses the thread's number as the index in all dimensions of a vector that it "
        "cannot distribute. That is right only for one dimension."
    )
    remedy = "fissile assigns each element of the result to a thread of its own (`fissile-set-lowering`)."
    effect = Effect.WRONG
    order = 20
    target = "vulkan:ampere"
    fails = """\
func.func @f(%table: tensor<64xf32>, %indices: tensor<16x24x2xi32>) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<24xf32>) -> tensor<24xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%indices : tensor<16x24x2xi32>) outs(%start : tensor<24xf32>) {
  ^bb0(%index: i32, %sofar: f32):
    %at = arith.index_cast %index : i32 to index
    %term = tensor.extract %table[%at] : tensor<64xf32>
    %more = arith.addf %term, %sofar : f32
    linalg.yield %more : f32
  } -> tensor<24xf32>
  return %sum : tensor<24xf32>
}
"""
    repaired_by = "fissile-read-by-element{ops=1 flat-sums=true}"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.kernel.diagonal_reads import may_read_diagonal

        return may_read_diagonal(dispatch.codegen, configured())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.diagonal_reads import diagonal_reads
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.iree.backends import backend_named

        return Evidence(diagonal_reads(code, backend_named(dispatch.target.backend).alignment))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        return Finding(
            self.code,
            f"threads sum only the diagonal of a {evidence.buffers[0].type} tile: the numbers will be wrong",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
