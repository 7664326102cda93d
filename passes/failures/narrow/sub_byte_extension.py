"""FIS135: an integer below a byte is extended together with its neighbours' bits."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Stage, failure
from .narrow_elements import NarrowElements


@failure
class SubByteExtension(NarrowElements):
    code = "FIS135"
    name = "sub-byte-extension"
    title = "the numbers will be wrong: a sub-byte integer is extended together with its neighbours' bits"
    what = (
        "On a Vulkan or Metal target that computes in bytes, a dispatch reads i2 or i4 elements and extends them to i8 "
        "or i16, compares, divides or shifts them, or uses them as indices. Each value keeps bits of the elements "
        "beside it. The module compiles and runs."
    )
    why = (
        "IREE 3.13 shifts the byte that holds the element and truncates it. The conversion to SPIR-V turns the "
        "truncation into a conversion to i32 and the extension into one back to i8, and neither clears the upper bits. "
        "An extension to 32 bits does clear them."
    )
    remedy = (
        "fissile extends each element to 32 bits, masks it and computes in 32 bits; the buffers stay as they are. By "
        "hand: extend to i32, shift left and back, then truncate. Without the shifts IREE folds the two conversions "
        "into the one that is wrong."
    )
    effect = Effect.WRONG
    stage = Stage.CONFIGURED
    order = 44
    in_place = True
    how = "{read} each of these elements into 32 bits and {masked} it there"
    headline = "{element} is extended with its neighbours' bits in {count} on {target}"
    label = "extends or compares elements of {element}"
    note = "the module builds and runs"
    target = "vulkan:ampere"
    fails = """\
#map = affine_map<(i) -> (i)>
func.func @f(%x: tensor<8xi4>) -> tensor<8xi8> {
  %empty = tensor.empty() : tensor<8xi8>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi4>) outs(%empty : tensor<8xi8>) {
  ^bb0(%a: i4, %_: i8):
    %wide = arith.extui %a : i4 to i8
    linalg.yield %wide : i8
  } -> tensor<8xi8>
  return %r : tensor<8xi8>
}
"""
    repaired_by = "fissile-pack-narrow-storage{types=i4 in-place=true}"

    def concerns(self, backend):
        return backend.drops_signs

    def may_occur(self, dispatch, configured):
        """Where bytes are computed in bytes: a target without 8-bit storage has 32-bit registers only."""
        return 8 in dispatch.target.storage_bits

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.narrow.sub_byte_extension import unmasked_types

        return Evidence(types=unmasked_types(dispatch))
