"""FIS118: code generation loses the sign of narrow integers."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, failure


@failure
class LostSign(Failure):
    code = "FIS118"
    name = "sign-lost"
    title = "the numbers will be wrong: code generation loses the sign of narrow integers"
    what = (
        "A dispatch sign-extends narrow integers that it reads as vectors of several words, and SPIR-V code generation zero-extends "
        "them instead: negative values become positive. The module compiles and runs."
    )
    why = (
        "MLIR rewrites the extension of a bitcast into a mask and a logical shift (in IREE 3.13). An int8 matmul on a device with 8-bit "
        "storage had 4091 of 4096 values wrong."
    )
    remedy = "fissile reads such buffers as 32-bit words and extends the elements itself (`fissile-pack-narrow-storage`)."
    effect = Effect.WRONG
    upstream = "llvm-project #199243"
    order = 40
    packed = True

    def concerns(self, backend):
        return backend.drops_signs

    def may_occur(self, dispatch, configured):
        """It reads narrow integers and extends them: in a body, or inside of a named op (an int8 matmul)."""
        return any(b.element_bits < 32 and b.element.startswith("i") for b in dispatch.bindings)

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.lost_sign import lost_signs

        return Evidence(types=lost_signs(code))

    def explain(self, dispatch, evidence, ops):
        from fissile.passes.checks.numbers.sign_extension import check_sign_extension

        return next(iter(check_sign_extension([(dispatch, evidence.types)])), None)
