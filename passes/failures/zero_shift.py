"""FIS158: a 64-bit shift by 0 in 32-bit words."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, Stage, failure


@failure
class ZeroShift(Failure):
    code = "FIS158"
    name = "zero-shift"
    title = "the numbers may be wrong: a 64-bit integer is shifted by 0"
    what = (
        "A dispatch shifts 64-bit integers to the left, or to the right without a sign, by a number that may be 0, and the target "
        "has no 64-bit integers. Such a shift by 0 changes the number: on lavapipe, -19 becomes -1."
    )
    why = (
        "IREE 3.13 computes 64-bit integers as pairs of 32-bit words there (MLIR's wide integer emulation). It shifts one word by 32 minus the "
        "amount into the other one, and SPIR-V does not define a shift of 32 bits by 32. Measured on lavapipe, which shifts by 0 then."
    )
    remedy = (
        "fissile takes the number itself if the amount is 0 (`fissile-guard-shifts`). Shifts by a constant and targets with 64-bit "
        "integers are no finding."
    )
    effect = Effect.UNPROVED
    stage = Stage.CONFIGURED
    order = 47
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<63xi64>, %y: tensor<63xi64>) -> tensor<63xi64> {
  %empty = tensor.empty() : tensor<63xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<63xi64>, tensor<63xi64>) outs(%empty : tensor<63xi64>) {
  ^bb0(%a: i64, %b: i64, %_: i64):
    %shifted = arith.shrui %a, %b : i64
    linalg.yield %shifted : i64
  } -> tensor<63xi64>
  return %r : tensor<63xi64>
}
"""
    repaired_by = "fissile-guard-shifts"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.scalars.zero_shifts import shifts_in

        compute = dispatch.target.compute
        return bool(compute) and "int64" not in compute and bool(shifts_in(dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.scalars.zero_shifts import shifts_in

        return Evidence(count=len(shifts_in(code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        shifts = "a shift" if evidence.count == 1 else f"{evidence.count} shifts"
        return Finding(
            self.code,
            f"the numbers may be wrong: {shifts} of 64-bit integers by a number that may be 0, in words of 32 bits",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
