"""FIS104: code generation cannot legalise an op of a dispatch for its target."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import NOT_CONVERTED, NOT_LINKED, NOT_TRANSLATED, TYPES_NOT_SUPPORTED

from ..failure import failure
from .refusal import Refusal


@failure
class NotLegalized(Refusal):
    code = "FIS104"
    name = "not-legalized"
    title = "code generation cannot legalise an op of a dispatch for this target"
    what = (
        "IREE stops with `failed to legalize operation` (for example `vector.bitcast` on SPIR-V) or with `types are not "
        "supported on`."
    )
    why = (
        "The target lacks the type or the vector shape that the op needs. Examples are 8- and 16-bit storage, bf16, "
        "8-bit floats on CUDA and most AMD targets, and stores of 4-bit integers."
    )
    remedy = (
        "fissile reads and writes 8-bit floats and sub-byte types as bit patterns (`fissile-pack-narrow-storage`). On "
        "Vulkan, name the features that your device really has (`--match-device=vulkan`)."
    )
    effect = Effect.REFUSED
    order = 5
    messages = (NOT_CONVERTED, NOT_LINKED, TYPES_NOT_SUPPORTED, NOT_TRANSLATED)
    lacks_code = True
    target = "gfx942"
    fails = """\
func.func @f(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %empty = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%empty : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %_: i32):
    %q = math.ipowi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
"""
    repaired_by = "fissile-expand-scalars"
