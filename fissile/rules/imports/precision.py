"""Findings about the bits and the formulas in which IREE computes an op of a front end's program: part of FIS2xx."""

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
    "is infinite, so that layer_norm makes 0 of such a row. How wrong it is depends on how many numbers are added, and how large they are: the mean of 32768 bf16 ones was 0.25.",
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
define(
    "FIS222",
    "other-formula",
    "the numbers may be wrong: IREE computes an activation or a loss by another formula",
    "IREE's log_sigmoid is -inf below -88, where PyTorch's is the number itself, and with it binary_cross_entropy_with_logits; its softshrink moves negative numbers away from 0, "
    "not towards it; its prelu with a weight for each channel applies them to the elements of the last dimension; its kl_div is NaN where the target is 0, as in every one-hot target; its renorm along a dimension that counts from the end (-1) takes other norms. "
    "Its GELU by tanh, and the gradient, is off by up to 5e-5, its rad2deg by 8e-7 of itself.",
    "IREE 3.13's import (torch-mlir) takes the logarithm of a sigmoid that has no more digits, adds the signs up otherwise, and multiplies 0 with the logarithm of 0. It has 22 / 7 for pi in a GELU, and 3.14159 in rad2deg.",
    "fissile writes PyTorch's formula (`fissile-write-formulas`). In the model: `-softplus(-x)` for log_sigmoid, `xlogy(t, t) - t * x` for kl_div.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %half = torch.constant.float 5.000000e-01
  %r = torch.aten.softshrink %x, %half : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %half = torch.constant.float 5.000000e-01
  %one = torch.constant.int 1
  %minus = torch.constant.float -5.000000e-01
  %inside = torch.aten.clamp %x, %minus, %half : !torch.vtensor<[4],f32>, !torch.float, !torch.float -> !torch.vtensor<[4],f32>
  %r = torch.aten.sub.Tensor %x, %inside, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
