"""FIS118: code generation loses the sign of narrow integers."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import failure
from .narrow_elements import NarrowElements


@failure
class LostSign(NarrowElements):
    code = "FIS118"
    name = "sign-lost"
    title = "the numbers will be wrong: code generation loses the sign of narrow integers"
    what = (
        "A dispatch reads narrow integers as vectors of several words and sign-extends them, but SPIR-V code generation "
        "zero-extends them: negative values become positive. The module compiles and runs."
    )
    why = (
        "MLIR (in IREE 3.13) rewrites the extension of a bitcast as a mask and a logical shift. An int8 matmul on a "
        "device with 8-bit storage had 4091 of 4096 values wrong."
    )
    remedy = "fissile reads such buffers as 32-bit words and extends the elements itself (`fissile-pack-narrow-storage`)."
    effect = Effect.WRONG
    upstream = "llvm-project #199243"
    order = 40
    headline = "code generation loses the sign of {element} in {count} on {target}"
    label = "sign-extends vectors of {element}"
    note = "negative values are read as positive ones; the module builds and runs"
    target = "vulkan:rdna1"
    fails = """\
func.func @f(%a: tensor<128x32xi8>, %b: tensor<32x32xi8>) -> tensor<128x32xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<128x32xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<128x32xi32>) -> tensor<128x32xi32>
  %r = linalg.matmul ins(%a, %b : tensor<128x32xi8>, tensor<32x32xi8>) outs(%start : tensor<128x32xi32>) -> tensor<128x32xi32>
  return %r : tensor<128x32xi32>
}
"""
    repaired_by = "fissile-pack-narrow-storage{types=i8}"

    def concerns(self, backend):
        return backend.drops_signs

    def may_occur(self, dispatch, configured):
        """It reads narrow integers and extends them: in a body, or inside of a named op (an int8 matmul)."""
        return any(b.element_bits < 32 and b.element.startswith("i") for b in dispatch.bindings)

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.narrow.lost_sign import lost_signs

        return Evidence(types=lost_signs(code))
