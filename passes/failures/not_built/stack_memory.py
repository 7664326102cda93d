"""FIS102: a dispatch needs more stack than its CPU target allows."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.passes.iree.messages import STACK_EXCEEDED

from ..failure import failure
from .on_chip_memory import OnChipMemory


@failure
class StackMemory(OnChipMemory):
    code = "FIS102"
    name = "stack-memory"
    title = "a dispatch needs more stack than its CPU target allows"
    what = "The fused ops keep temporaries on the CPU stack, and their sum exceeds IREE's limit (32768 bytes by default)."
    why = "The cause is the same fusion as in FIS101; the CPU backend keeps the tiles on the stack."
    remedy = (
        "fissile places a fusion boundary. Do not disable the check: the program would overrun its stack."
    )
    effect = Effect.REFUSED
    order = 2
    messages = (STACK_EXCEEDED,)
    exceeds = "stack"
    target = "llvm-cpu"
    fails = """\
func.func @f(%r: tensor<16384xf32>, %i: tensor<16384xf32>) -> tensor<16384xf32> {
  %x = stablehlo.complex %r, %i : tensor<16384xcomplex<f32>>
  %c = stablehlo.fft %x, type = FFT, length = [16384] : (tensor<16384xcomplex<f32>>) -> tensor<16384xcomplex<f32>>
  %p = stablehlo.imag %c : (tensor<16384xcomplex<f32>>) -> tensor<16384xf32>
  return %p : tensor<16384xf32>
}
"""
    repaired_by = "fissile-use-results"
