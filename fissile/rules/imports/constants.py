"""Findings about constants that IREE's import of a front end's program computes: part of FIS2xx."""

from fissile.effect import Effect

from ..input import COMPILE
from ..rule import define
from ..shown import Shown

define(
    "FIS221",
    "misfolded-constants",
    "the numbers may be wrong: IREE computes an op on constants otherwise when it compiles",
    "An op of PyTorch on a constant (`torch.full`, `torch.ones`, a small literal) and a number is computed when the program is compiled, and not as PyTorch does: "
    "`torch.ones(4) * -1` is -1.8e19, `torch.zeros(4) == 0` is False, `torch.full((4,), -5) % 3` is -2, `torch.ones(4, dtype=torch.bool) > 0` is False, and the comparison "
    "of an integer constant with 0.5 crashes. A float tensor that is compared with itself, which is False where it is NaN, is True everywhere, whether it is constant or not.",
    "IREE 3.13's import (torch-mlir) folds an op whose operands are constants of equal elements, or of at most 16. It reads a negative integer as one of 64 bits without a "
    "sign, the operand of a comparison by the type of the number and not of the tensor, a boolean as -1, and takes the remainder with the sign of the dividend.",
    "fissile gives the number the type that PyTorch computes in (`fissile-type-scalars`), and writes the comparison with itself by `isnan`. In the model: a float beside a float "
    "constant (`-1.0`, not `-1`), `torch.isnan`.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %minus = torch.constant.int -1
  %ones = torch.vtensor.literal(dense<1.0> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %sign = torch.aten.mul.Scalar %ones, %minus : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %r = torch.aten.add.Tensor %x, %sign, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %minus = torch.constant.float -1.0
  %ones = torch.vtensor.literal(dense<1.0> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %sign = torch.aten.mul.Scalar %ones, %minus : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %r = torch.aten.add.Tensor %x, %sign, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS226",
    "packed-constant",
    "the numbers will be wrong: a constant has several elements in each byte",
    "A constant of si4, ui4 or f4E2M1FN is a resource of the module whose bytes hold several elements each, as they lie in an ONNX model. MLIR has a byte "
    "for each element of such a constant.",
    "IREE 3.13's ONNX importer copies the bytes of an initialiser as they are. The compiler takes each for an element and reads past the last "
    "one, or rejects the program for another reason.",
    "fissile gives each element a byte of its own (`fissile-unpack-constants`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<w> : tensor<2x4xsi4>} : () -> !torch.vtensor<[2,4],si4>
  %f = torch.operator "onnx.Cast"(%w) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[2,4],si4>) -> !torch.vtensor<[2,4],f32>
  %r = torch.operator "onnx.Add"(%x, %f) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}
{-#
  dialect_resources: { builtin: { w: "0x0400000021436587" } }
#-}
""",
        """\
func.func @f(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<w> : tensor<2x4xsi8>} : () -> !torch.vtensor<[2,4],si8>
  %f = torch.operator "onnx.Cast"(%w) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32>
  %r = torch.operator "onnx.Add"(%x, %f) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}
{-#
  dialect_resources: { builtin: { w: "0x0400000001020304050607F8" } }
#-}
""",
    ),
)
define(
    "FIS228",
    "wide-global",
    "the numbers will be wrong: the bytes of f64 of a global are read as f32",
    "A global of f64 has its elements in a resource of the module (`dense_resource`), as iree-turbine writes the weights of a model that have more "
    "than a few elements.",
    "IREE computes f64 as f32 by default. IREE 3.13 changes the type of the global, and leaves the elements of a "
    "resource as they are: the first half of the bytes is read, each half of an f64 as an f32. (A constant of this kind in a function it rejects.)",
    "fissile writes the elements into the program, where IREE converts them (`fissile-inline-doubles`). Otherwise convert the model to f32, or turn "
    "IREE's demotion of f64 off.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
util.global private @w = dense_resource<w> : tensor<2xf64>
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  %w = util.global.load @w : tensor<2xf64>
  %r = arith.addf %x, %w : tensor<2xf64>
  return %r : tensor<2xf64>
}
{-#
  dialect_resources: { builtin: { w: "0x08000000000000000000F03F0000000000000040" } }
#-}
""",
        """\
util.global private @w = dense<[1.0, 2.0]> : tensor<2xf64>
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  %w = util.global.load @w : tensor<2xf64>
  %r = arith.addf %x, %w : tensor<2xf64>
  return %r : tensor<2xf64>
}
""",
    ),
)
