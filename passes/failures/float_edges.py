"""FIS139: 8-bit floats are converted wrongly at the edges of their range."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import CONVERTED, Failure, failure

NAN_READ_AS_NUMBER = frozenset({"f8E4M3FN"})
ROUNDED_TO_ZERO = frozenset({"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"})


@failure
class FloatEdges(Failure):
    code = "FIS139"
    name = "float-edges"
    title = "the numbers may be wrong: 8-bit floats are converted wrongly at the edges of their range"
    what = (
        "A dispatch on the CPU either extends f8E4M3FN, where the negative NaN (byte 255) becomes -480, or rounds to an "
        "8-bit float, where a value just below the smallest normal number becomes 0 instead of rounding up to it. Other "
        "values are right. The module compiles and runs."
    )
    why = (
        "IREE 3.13 has no 8-bit floats on the CPU and emulates their conversions (ConvertUnsupportedFloatArith). One of "
        "the 256 bytes of f8E4M3FN is extended wrongly. For every type a carry out of the mantissa of a subnormal "
        "number is lost: 0.99 of the smallest normal number is rounded to 0."
    )
    remedy = (
        "The finding is a warning, and fissile leaves the program unchanged: weights and activations rarely hold such "
        "values. `--pipeline-after=global-optimization:builtin.module(fissile-pack-narrow-storage{types=f8E4M3FN})` "
        "converts by integer arithmetic, exactly as ml_dtypes does."
    )
    effect = Effect.UNPROVED
    order = CONVERTED + 40
    reported_only = True
    target = "llvm-cpu"
    fails = """\
func.func @f(%x: tensor<256xf8E4M3FN>) -> tensor<256xf32> {
  %empty = tensor.empty() : tensor<256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<256xf8E4M3FN>) outs(%empty : tensor<256xf32>) {
  ^bb0(%a: f8E4M3FN, %_: f32):
    %wide = arith.extf %a : f8E4M3FN to f32
    linalg.yield %wide : f32
  } -> tensor<256xf32>
  return %r : tensor<256xf32>
}
"""
    repaired_by = "fissile-pack-narrow-storage{types=f8E4M3FN}"

    def concerns(self, backend):
        return backend.name == "llvm-cpu"

    def may_occur(self, dispatch, configured):
        return bool(_conversions(dispatch))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(types=_conversions(dispatch))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        return Finding(
            self.code,
            f"the numbers may be wrong: {' and '.join(evidence.types)}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _conversions(dispatch) -> tuple[str, ...]:
    """What the configured dispatch converts, each once, as a finding says it."""
    from iree.compiler import ir

    found: dict[str, None] = {}

    def visit(op):
        if op.name == "arith.extf" and (element := str(op.operands[0].type)) in NAN_READ_AS_NUMBER:
            found[f"a negative NaN of {element} is extended to -480"] = None
        if op.name == "arith.truncf" and (element := str(op.results[0].type)) in ROUNDED_TO_ZERO:
            found[f"what rounds up to the smallest normal {element} is rounded to 0"] = None
        return ir.WalkResult.ADVANCE

    dispatch.inner_module().walk(visit)
    return tuple(found)
