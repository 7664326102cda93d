"""FIS101: a dispatch needs more workgroup memory than its target has."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import WORKGROUP_MEMORY_EXCEEDED

from ..failure import failure
from .on_chip_memory import OnChipMemory


@failure
class WorkgroupMemory(OnChipMemory):
    code = "FIS101"
    name = "workgroup-memory"
    title = "a dispatch needs more workgroup memory than its target has"
    what = (
        "The fused ops of one dispatch keep tiles or whole tensors in workgroup (shared) memory, and their sum exceeds "
        "what one workgroup of the target may use. IREE rejects the program."
    )
    why = (
        "IREE always clones producers that only extend bits (dequantisation, f16 to f32) into the dispatch of their "
        "consumer. If the consumer reads them in a pattern that no tile covers (the window of a convolution), the whole "
        "result of the producer is kept on chip."
    )
    remedy = (
        "fissile places a fusion boundary on the smallest set of producers that makes the dispatch fit "
        "(`fissile-place-boundaries`). Their results go through global memory and are read back tile by tile."
    )
    effect = Effect.REFUSED
    order = 1
    messages = (WORKGROUP_MEMORY_EXCEEDED,)
    exceeds = "workgroup"
    predicted = True
    target = "gfx942"
    fails = """\
func.func @f(%x: tensor<1x48x58x58xi8>, %w: tensor<48x48x3x3xf32>) -> tensor<1x48x56x56xf32> {
  %scale_xd = arith.constant 0.0078125 : f32
  %room_xd = tensor.empty() : tensor<1x48x58x58xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x48x58x58xi8>) outs(%room_xd : tensor<1x48x58x58xf32>) {
  ^bb0(%in: i8, %_: f32):
    %wide = arith.sitofp %in : i8 to f32
    %scaled = arith.mulf %wide, %scale_xd : f32
    linalg.yield %scaled : f32
  } -> tensor<1x48x58x58xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x48x56x56xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x48x56x56xf32>) -> tensor<1x48x56x56xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%xd, %w : tensor<1x48x58x58xf32>, tensor<48x48x3x3xf32>) outs(%start : tensor<1x48x56x56xf32>) -> tensor<1x48x56x56xf32>
  return %r : tensor<1x48x56x56xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=0}"
