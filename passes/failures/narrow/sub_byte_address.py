"""FIS138: vectors of elements below a byte are read from the beginning of a byte, wherever they begin."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Stage, failure
from .narrow_elements import NarrowElements


@failure
class SubByteAddress(NarrowElements):
    code = "FIS138"
    name = "sub-byte-address"
    title = "the numbers will be wrong: vectors of sub-byte elements are read at the wrong address"
    what = (
        "A dispatch accesses vectors of i4, i2, f4 or packed i1 that begin inside a byte: a slice at an odd column, a "
        "border, the window of a convolution. IREE accesses them from the start of the byte. The module compiles and "
        "runs. The finding says *may* if it depends on sizes that the caller chooses."
    )
    why = (
        "IREE 3.13 emulates such buffers with bytes (EmulateNarrowType). If a vector fills whole bytes, IREE assumes "
        "that it starts at bit 0 of the first one and does not check the address. On llvm-cpu `tensor.extract_slice "
        "%x[0, 1] [8, 8]` of 8x16xi4 had 61 of 64 values wrong, an i4 convolution in NCHW layout 120 of 128."
    )
    remedy = (
        "fissile reads such buffers as 32-bit words and extracts the elements itself. By hand: extend the tensor to i8 "
        "in a dispatch of its own, compute there, and truncate the result."
    )
    effect = Effect.WRONG
    stage = Stage.VIEWS_FOLDED
    order = 45
    headline = "vectors of {element} that begin within a byte are read from its beginning in {count}"
    label = "reads or writes vectors of {element} at a wrong address"
    note = "the module builds and runs"
    target = "llvm-cpu"
    fails = """\
func.func @f(%x: tensor<8x16xi4>) -> tensor<8x8xi4> {
  %r = tensor.extract_slice %x[0, 1] [8, 8] [1, 1] : tensor<8x16xi4> to tensor<8x8xi4>
  return %r : tensor<8x8xi4>
}
"""
    repaired_by = "fissile-pack-narrow-storage{types=i4}"

    def concerns(self, backend):
        return bool(backend.lowering)

    def may_occur(self, dispatch, configured):
        return any(0 < b.element_bits < 8 for b in dispatch.bindings)

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.narrow.byte_alignment import misread_types

        if not (found := misread_types(code)):
            return None
        effect = Effect.WRONG if any(found.values()) else Effect.UNPROVED
        return Evidence(types=tuple(found), effect=effect)
