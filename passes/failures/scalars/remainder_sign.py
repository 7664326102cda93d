"""FIS196: the sign of a remainder, read off the absolute value of the dividend."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, Stage, failure


@failure
class RemainderSign(Failure):
    code = "FIS196"
    name = "remainder-sign"
    title = "the numbers may be wrong: the remainder of the lowest integer has the wrong sign"
    what = (
        "A dispatch computes signed remainders, and the dividend may be the lowest number of its type. Its remainder has "
        "the wrong sign: on lavapipe, -2147483648 rem 3 is 2 instead of -2. All other remainders are right."
    )
    why = (
        "MLIR's conversion to SPIR-V, as of IREE 3.13, computes the remainder of the absolute values and takes its negative unless the "
        "dividend equals its absolute value. The lowest number does: its absolute value has no representation."
    )
    remedy = (
        "fissile adds the divisor's magnitude to such a dividend, which leaves the remainder the same (`fissile-sign-remainders`). Remainders by a constant power of two, and "
        "those of integers that are extended from fewer bits, are no finding."
    )
    effect = Effect.UNPROVED
    stage = Stage.CONFIGURED
    order = 49
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  %empty = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<64xi32>, tensor<64xi32>) outs(%empty : tensor<64xi32>) {
  ^bb0(%a: i32, %b: i32, %_: i32):
    %rest = arith.remsi %a, %b : i32
    linalg.yield %rest : i32
  } -> tensor<64xi32>
  return %r : tensor<64xi32>
}
"""
    repaired_by = "fissile-sign-remainders"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        return bool(_remainders(dispatch, dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(count=len(_remainders(dispatch, code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        remainders = "a remainder" if evidence.count == 1 else f"{evidence.count} remainders"
        return Finding(
            self.code,
            f"the numbers may be wrong: {remainders} of a number that may be the lowest one, with the wrong sign",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _remainders(dispatch, code):
    """Those of integers that the target has: narrower ones are computed with 32 bits, wider ones as pairs of words."""
    from fissile.passes.analysis.scalars.lowest_dividends import remainders_in

    native = {f"i{name.removeprefix('int')}" for name in dispatch.target.compute if name.startswith("int")}
    return remainders_in(code, {"i32", *native})
