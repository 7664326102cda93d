"""FIS108: code generation for a dispatch fails with an error that no other failure declares."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import PIPELINE_NOT_BUILT

from ..failure import failure
from .refusal import Refusal


@failure
class CodegenFailed(Refusal):
    code = "FIS108"
    name = "codegen-failed"
    title = "code generation for a dispatch fails"
    what = "IREE's code generation stops on one dispatch with an error that no other rule recognises."
    why = "The finding repeats IREE's own message unchanged."
    remedy = "A fusion boundary often helps: fissile tries one, and reports it where it helps."
    effect = Effect.REFUSED
    order = 8
    messages = ("",)  # any message that none of those before it declares
    lacks_code = True
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<60xi64>) -> tensor<60xi64> {
  %empty = tensor.empty() : tensor<60xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<60xi64>) outs(%empty : tensor<60xi64>) {
  ^bb0(%a: i64, %_: i64):
    %count = math.ctpop %a : i64
    linalg.yield %count : i64
  } -> tensor<60xi64>
  return %r : tensor<60xi64>
}
"""
    repaired_by = "fissile-expand-scalars"

    def explain(self, dispatch, evidence, ops):
        """Where the program itself configures the op for another backend, that is what is wrong."""
        from fissile.passes.checks.refusals.foreign_configuration import check_foreign_configuration

        foreign = PIPELINE_NOT_BUILT in evidence.text and check_foreign_configuration(
            dispatch, self.code, evidence, ops
        )
        return foreign or super().explain(dispatch, evidence, ops)
