"""FIS112: vectors are read or written where they are not aligned to their size."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, Stage, failure


@failure
class MisalignedVectors(Failure):
    code = "FIS112"
    name = "misaligned-vectors"
    title = "the numbers will be wrong: vectors are read or written at the wrong address"
    what = (
        "A dispatch accesses a slice of a buffer with vectors, and the slice does not begin on a vector boundary. Each "
        "vector lands in front of where it belongs. The module compiles and runs."
    )
    why = (
        "IREE 3.13's SPIR-V code generation turns the buffer's elements into vectors and divides the last index by the "
        "vector size, without checking that it is a multiple (SPIRVVectorizeLoadStore). This happens in a 1x1 "
        "convolution whose result is padded for the next convolution: 17388 of 20736 values of a plain f32 one were "
        "wrong."
    )
    remedy = "fissile places a fusion boundary behind the slice, so that a separate dispatch copies it."
    effect = Effect.WRONG
    stage = Stage.VIEWS_FOLDED
    order = 10
    last_results = True  # a slice that is stored elsewhere
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<64x8x16xf32>, %w: tensor<64x64xf32>) -> tensor<64x10x18xf32> {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -3.0 : f32
  %empty = tensor.empty() : tensor<64x8x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x8x16xf32>) -> tensor<64x8x16xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(f, h, w, c) -> (c, h, w)>, affine_map<(f, h, w, c) -> (f, c)>,
      affine_map<(f, h, w, c) -> (f, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x8x16xf32>, tensor<64x64xf32>) outs(%start : tensor<64x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sofar: f32):
    %term = arith.mulf %a, %b : f32
    %sum = arith.addf %sofar, %term : f32
    linalg.yield %sum : f32
  } -> tensor<64x8x16xf32>
  %room = tensor.empty() : tensor<64x10x18xf32>
  %border = linalg.fill ins(%minus : f32) outs(%room : tensor<64x10x18xf32>) -> tensor<64x10x18xf32>
  %r = tensor.insert_slice %product into %border[0, 1, 1] [64, 8, 16] [1, 1, 1] : tensor<64x8x16xf32> into tensor<64x10x18xf32>
  return %r : tensor<64x10x18xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=1}"

    def concerns(self, backend):
        return backend.divides_indices

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.kernel.vector_alignment import may_misplace

        return may_misplace(dispatch.inner_module())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.vector_alignment import misaligned_vectors

        return Evidence(types=tuple(misaligned_vectors(code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import labelled

        root = ops[dispatch.root] if dispatch.root is not None and dispatch.root < len(ops) else None
        at = (root.place if root else None) or dispatch.place
        what = f"the dispatch of {root.name or root.op}" if root else "a dispatch"
        buffer, *others = evidence.types
        return Finding(
            self.code,
            f"{what} reads or writes vectors of {buffer} at the wrong address: its numbers are wrong",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=labelled(at, "its vectors begin between two vectors of the buffer"),
            notes=tuple(f"also: {other}" for other in others),
        )
