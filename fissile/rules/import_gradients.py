"""Findings about gradients and running sums of PyTorch that IREE's import computes otherwise: part of FIS1xx."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

define(
    "FIS180",
    "leaky-relu-gradient",
    "the numbers are wrong: IREE compares the gradient of a leaky ReLU with 0, and not its operand",
    "aten.leaky_relu_backward passes the incoming gradient on where the operand was positive, and multiplies it with the slope elsewhere. IREE adds the "
    "positive part of the gradient and the slope times the negative part of the operand. A training step that is traced with torch.func.grad has the op.",
    "The decomposition in IREE 3.13's import (torch-mlir) takes the maximum with 0 of the incoming gradient, and the minimum with 0 of the operand.",
    "fissile writes it as a choice by the operand (`fissile-differentiate-activations`). In the model, write `torch.where(x > 0, x, slope * x)`.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %slope = torch.constant.float 0.01
  %no = torch.constant.bool false
  %r = torch.aten.leaky_relu_backward %g, %x, %slope, %no : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %zero = torch.constant.int 0
  %r = torch.aten.threshold_backward %g, %x, %zero : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS169",
    "clamp-gradient",
    "the numbers may be wrong: a clamp passes the gradient on at its borders",
    "aten.hardtanh_backward, the gradient of ReLU6 and of hardtanh, is 0 where the operand is at a border or outside, and IREE passes the incoming "
    "gradient on at the borders. An operand of exactly 0 is common: padding, another ReLU before it, or an embedding of zeros.",
    "IREE 3.13's import (torch-mlir) compares with >= and <= where PyTorch compares with > and <.",
    "fissile writes it as choices (`fissile-differentiate-activations`).",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %zero = torch.constant.float 0.0
  %six = torch.constant.float 6.0
  %r = torch.aten.hardtanh_backward %g, %x, %zero, %six : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.float -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %zero = torch.constant.float 0.0
  %r = torch.aten.threshold_backward %g, %x, %zero : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS179",
    "exponentials-overflow",
    "the numbers may be wrong: a running sum of exponentials overflows",
    "aten.logcumsumexp is finite for finite elements. IREE's is infinite from the first element above 88 on, and -inf where all elements are below "
    "-104. Logarithms of probabilities of long sequences are.",
    "The lowering in IREE 3.13's import (torch-mlir) takes the exponentials, adds them up, and takes the logarithm.",
    "fissile writes it as a scan that adds two logarithms (`fissile-scan-exponentials`). In the model, subtract the largest element before.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %dim = torch.constant.int 0
  %r = torch.aten.logcumsumexp %x, %dim : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %dim = torch.constant.int 0
  %none = torch.constant.none
  %r = torch.aten.cumsum %x, %dim, %none : !torch.vtensor<[4],f32>, !torch.int, !torch.none -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
