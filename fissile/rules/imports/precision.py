"""Findings about the bits in which IREE computes an op of a front end's program: part of FIS2xx."""

from fissile.effect import Effect

from ..input import COMPILE
from ..rule import define
from ..shown import Shown

define(
    "FIS220",
    "narrow-accumulation",
    "the numbers may be wrong: IREE adds 16-bit floats in 16 bits",
    "PyTorch computes a sum, mean, norm, average pool or loss of float16 or bfloat16 in float32 and rounds the result once; so do ONNX's normalization layers and the "
    "runtimes of its reductions. IREE adds in the type of the result: a sum of bf16 ones stops growing at 256, a sum of f16 at 65504, and the square of an f16 of 256 or more "
    "is infinite, so that layer_norm makes 0 of such a row. How wrong it is depends on how many numbers are added, and how large they are: the mean of 32768 bf16 was 47% off.",
    "IREE 3.13's import (torch-mlir) lowers these ops to reductions in the element type. Products of matrices, convolutions, softmax, attention and var have wider sums.",
    "fissile computes the op in f32 and converts the result (`fissile-widen-accumulations`). In the model: `x.float()` before the op, or a `dtype` of float32 "
    "where the op takes one.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4,1024],bf16>) -> !torch.vtensor<[],bf16> {
  %none = torch.constant.none
  %r = torch.aten.mean %x, %none : !torch.vtensor<[4,1024],bf16>, !torch.none -> !torch.vtensor<[],bf16>
  return %r : !torch.vtensor<[],bf16>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4,1024],bf16>) -> !torch.vtensor<[],bf16> {
  %none = torch.constant.none
  %f32 = torch.constant.int 6
  %bf16 = torch.constant.int 15
  %no = torch.constant.bool false
  %wide = torch.aten.mean %x, %f32 : !torch.vtensor<[4,1024],bf16>, !torch.int -> !torch.vtensor<[],f32>
  %r = torch.aten.to.dtype %wide, %bf16, %no, %no, %none : !torch.vtensor<[],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[],bf16>
  return %r : !torch.vtensor<[],bf16>
}
""",
    ),
)
