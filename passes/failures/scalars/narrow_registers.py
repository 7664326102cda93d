"""FIS192: narrow integers that are computed with 32 bits."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, Stage, failure


@failure
class NarrowRegisters(Failure):
    code = "FIS192"
    name = "narrow-registers"
    title = "the numbers may be wrong: 8- or 16-bit integers are computed with 32 bits"
    what = (
        "The body of an op truncates integers to 8 or 16 bits and computes with them, and the target has no such integers. A negative number is taken for a "
        "positive one: the larger of -1 and 0 becomes -1. On lavapipe, 160 of 324 signed maxima and 128 of 324 "
        "arithmetic shifts of i8 are wrong."
    )
    why = (
        "MLIR's conversion to SPIR-V, as of IREE 3.13, computes narrow integers in 32-bit registers. A truncation clears the upper "
        "bits, and only an extension sets them by the sign: signed maxima, minima, comparisons, divisions and right shifts read them as they are, and counts of "
        "zeros count them. Tensors of such elements are FIS110."
    )
    remedy = "fissile computes such bodies with sign-extended 32-bit integers (`fissile-widen-integers`)."
    effect = Effect.UNPROVED
    stage = Stage.CONFIGURED
    order = 42
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<64xi32>) -> tensor<64xi32> {
  %empty = tensor.empty() : tensor<64xi32>
  %zero = arith.constant 0 : i8
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xi32>) outs(%empty : tensor<64xi32>) {
  ^bb0(%a: i32, %_: i32):
    %small = arith.trunci %a : i32 to i8
    %larger = arith.maxsi %small, %zero : i8
    %wide = arith.extsi %larger : i8 to i32
    linalg.yield %wide : i32
  } -> tensor<64xi32>
  return %r : tensor<64xi32>
}
"""
    repaired_by = "fissile-widen-integers"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        return bool(_misread(dispatch, dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(count=len(_misread(dispatch, code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        ops_read = "an op reads" if evidence.count == 1 else f"{evidence.count} ops read"
        return Finding(
            self.code,
            f"the numbers may be wrong: {ops_read} 8- or 16-bit integers as 32 bits",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _misread(dispatch, code):
    from fissile.passes.analysis.kernel.narrow.narrow_access import missing_storage
    from fissile.passes.analysis.scalars.narrow_integers import NARROW_WIDTHS, misread_integers

    compute = dispatch.target.compute
    types = {element for element, name in NARROW_WIDTHS.items() if name not in compute}
    if not compute or not types or missing_storage(dispatch):  # FIS110 computes all of it in 32 bits
        return []
    return misread_integers(code, types)
