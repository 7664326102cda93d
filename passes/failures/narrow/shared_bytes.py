"""FIS225: several threads write elements of one byte, and one of them is lost."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Stage, failure
from .narrow_elements import NarrowElements


@failure
class SharedBytes(NarrowElements):
    code = "FIS225"
    name = "shared-bytes"
    title = "the numbers may be wrong: threads write parts of the same byte"
    what = (
        "On an AMD target, neighbouring threads write elements of i4, i2 or f4 that stand in the same byte: a concatenation, a row that is "
        "inserted into a cache, a padding. Each thread reads the byte, changes its part and writes the byte back. Where two do so at the "
        "same time, one element is lost. The module compiles and runs."
    )
    why = (
        "IREE 3.13 emulates such buffers with bytes, on AMD without atomic operations (AMDGPUEmulateNarrowType); the copies that it makes "
        "(`slow_memcpy`) give each element a thread of its own."
    )
    remedy = (
        "fissile reads and writes such buffers as 32-bit words, each of which one thread writes. By hand: compute in i8, and pack two elements "
        "into a byte in a dispatch of its own."
    )
    effect = Effect.MAY_BE_WRONG
    stage = Stage.VIEWS_FOLDED
    order = 51
    headline = "threads write elements of {element} in the same byte in {count}"
    label = "writes {element} beside other threads"
    note = "the module builds and runs"
    target = "gfx942"
    fails = """\
func.func @f(%x: tensor<4x4xi4>, %y: tensor<4x4xi4>) -> tensor<4x8xi4> {
  %r = tensor.concat dim(1) %x, %y : (tensor<4x4xi4>, tensor<4x4xi4>) -> tensor<4x8xi4>
  return %r : tensor<4x8xi4>
}
"""
    repaired_by = "fissile-pack-narrow-storage{types=i4}"

    def concerns(self, backend):
        return backend.plain_byte_writes

    def may_occur(self, dispatch, configured):
        return any(0 < b.element_bits < 8 and not b.readonly for b in dispatch.bindings)

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.narrow.shared_bytes import types_in_shared_bytes

        found = types_in_shared_bytes(code)
        return Evidence(types=found) if found else None
