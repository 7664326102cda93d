"""FIS110: narrow elements on a target whose storage buffers hold 32-bit words only."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Stage, failure
from .narrow_elements import NarrowElements


@failure
class NarrowStorage(NarrowElements):
    code = "FIS110"
    name = "narrow-storage"
    title = "the target has no storage for narrow elements"
    what = (
        "A dispatch loads or stores elements of 16 bits or fewer, but according to its target attribute the target's "
        "storage buffers hold 32-bit words only. The finding says which case applies: IREE rejects the dispatch (its "
        "message is quoted), the numbers will be wrong, or they may be wrong. A dispatch that computes the right "
        "numbers has no finding and stays unchanged."
    )
    why = (
        "IREE 3.13 emulates such elements with 32-bit words, and makes three mistakes. It addresses the elements of an "
        "i8 or i16 vector, and every f16, as if each occupied 4 bytes (on default Vulkan, 213586 of 215296 values of "
        "one dequantisation are wrong). It binds exactly the bytes of a tensor, so a partly filled last word reads as 0 "
        "and loses writes (i8 tensors of 13 elements, i2 tensors of 8). It computes narrow integers in 32-bit registers "
        "and leaves the upper bits undefined; a right shift or a comparison after an addition reads those bits (*may*). "
        "Integers that are read and written one at a time, in whole words, are right, with one exception: lavapipe ends a loop "
        "early that writes them, if some threads of the workgroup skip the loop (a sort or a scan of 4 rows of i8)."
    )
    remedy = (
        "fissile packs such buffers into 32-bit words and computes in 32 bits. If an op cannot be packed (FIS114), "
        "compile for the device in this machine (`--match-device=vulkan`) or for a target with 8-bit storage."
    )
    effect = Effect.WRONG
    stage = Stage.NARROW_EMULATED
    order = 36
    every_buffer = True
    headline = "{element} in {count}, but {target} has no {bits}-bit storage"
    label = "a dispatch that reads or writes {element}"
    note = "compile for the device that will run it: --match-device=vulkan, or --iree-vulkan-target=NAME"
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<13xi8>) -> tensor<13xi32> {
  %empty = tensor.empty() : tensor<13xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<13xi8>) outs(%empty : tensor<13xi32>) {
  ^bb0(%a: i8, %_: i32):
    %wide = arith.extsi %a : i8 to i32
    linalg.yield %wide : i32
  } -> tensor<13xi32>
  return %r : tensor<13xi32>
}
"""
    repaired_by = "fissile-pack-narrow-storage"

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.kernel.narrow.narrow_access import missing_storage

        return bool(missing_storage(dispatch))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.narrow.narrow_access import generated_access

        return _evidence(dispatch, generated_access(code))

    def around(self, dispatch):
        """How many bytes are bound, and their types: whatever the code does."""
        from fissile.passes.analysis.kernel.narrow.narrow_access import bound_access

        return _evidence(dispatch, bound_access(dispatch))

    def without_code(self, dispatch):
        from fissile.passes.analysis.kernel.narrow.narrow_access import NOT_ASKED

        return _evidence(dispatch, NOT_ASKED)


def _evidence(dispatch, access):
    from fissile.passes.analysis.kernel.evidence import NOTHING, Evidence
    from fissile.passes.analysis.kernel.narrow.narrow_access import Numbers, missing_storage

    effects = {
        Numbers.UNPROVED: Effect.UNPROVED,
        Numbers.WRONG_ON_SOME: Effect.MAY_BE_WRONG,
        Numbers.WRONG: Effect.WRONG,
    }
    if access.numbers not in effects:
        return NOTHING
    types = tuple(dict.fromkeys(binding.element for binding in missing_storage(dispatch)))
    return Evidence(types=types, effect=effects[access.numbers], why=access.why)
