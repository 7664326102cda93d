"""FIS159: the arctangent of two zeros is NaN."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, Stage, failure


@failure
class Arctangent(Failure):
    code = "FIS159"
    name = "arctangent"
    title = "the numbers may be wrong: atan2(0, 0) is NaN"
    what = (
        "A dispatch computes atan2(y, x), the angle of a point. IREE's result is NaN instead of an angle if both numbers are 0 or both are infinite, "
        "and pi instead of -pi for y = -0 and a negative x. Other points are right."
    )
    why = (
        "IREE 3.13 computes `math.atan2` as the arctangent of y / x with corrections for the quadrant (the expansion of `math.atan2`), on the CPU, in SPIR-V "
        "and on CUDA; AMD's targets call a library function. Measured on llvm-cpu and lavapipe; no CUDA device was."
    )
    remedy = "fissile computes the magnitude, with the angles of these points, and gives it the sign of y (`fissile-guard-arctangents`)."
    effect = Effect.UNPROVED
    stage = Stage.CONFIGURED
    order = 48
    target = "llvm-cpu"
    fails = """\
func.func @f(%y: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%y, %x : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %_: f32):
    %angle = math.atan2 %a, %b : f32
    linalg.yield %angle : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""
    repaired_by = "fissile-guard-arctangents"

    def concerns(self, backend):
        return backend.spirv or backend.name in ("llvm-cpu", "cuda")

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.scalars.arctangents import arctangents_in

        return bool(arctangents_in(dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.scalars.arctangents import arctangents_in

        return Evidence(count=len(arctangents_in(code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        angles = "an arctangent" if evidence.count == 1 else f"{evidence.count} arctangents"
        return Finding(
            self.code,
            f"the numbers may be wrong: {angles} of two numbers, for which IREE computes NaN if both are 0",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
