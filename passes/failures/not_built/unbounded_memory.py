"""FIS105: a dispatch allocates on-chip memory of unknown size."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import MEMORY_UNBOUNDED

from ..failure import failure
from .on_chip_memory import OnChipMemory


@failure
class UnboundedMemory(OnChipMemory):
    code = "FIS105"
    name = "unbounded-memory"
    title = "a dispatch allocates on-chip memory of unknown size"
    what = "An on-chip allocation has a dynamic size, so nothing proves that it fits. On AMD's GPUs that may be memory of each thread: the values of a sort of which only the order is used."
    why = "A dynamic dimension reaches an allocation that no tile size bounds."
    remedy = "Give the dimension an upper bound (`util.assume.int`), or let fissile place a boundary behind the producer."
    effect = Effect.REFUSED
    order = 3
    messages = (MEMORY_UNBOUNDED,)
    bounded = False
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<13x70x8xf32>) -> tensor<100x70xf32> {
  %empty = tensor.empty() : tensor<100x70xf32>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %empty : tensor<13x70x8xf32> -> tensor<100x70xf32>
  return %r : tensor<100x70xf32>
}
"""
    repaired_by = "fissile-decompose-movement"
