"""Findings about sizes, gradients, running sums, determinants and products of booleans that IREE's import of a front end's program computes otherwise: part of FIS1xx."""

from fissile.effect import Effect

from ..input import COMPILE
from ..rule import define
from ..shown import Shown

define(
    "FIS167",
    "rounded-sizes",
    "the numbers may be wrong: IREE rounds a negative size to the other side",
    "A size or a border of a tensor is the remainder or the quotient of a number that may be negative: `-length % 8` elements pad a sequence to a multiple of "
    "8, in ONNX as Neg and Mod of what Shape gives. IREE computes -1 for -9 % 8, and not 7, and -3 for ONNX's -9 / 4, and not -2.",
    "IREE 3.13's import (torch-mlir) makes numbers of tensors that are sizes. On the way `onnx.Mod` and `aten.remainder.int` become a remainder that has the sign of "
    "the dividend (arith.remsi), and `onnx.Div` a quotient that is rounded down (arith.floordivsi). For iree-turbine's `aten.fmod.int`, which stands "
    "for Python's %, it has no lowering.",
    "fissile divides numbers that are not negative (`fissile-divide-sizes`), if the divisor is a positive constant or the op Python's %. In the model, write `(8 - length % 8) % 8`.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %first = torch.constant.int 0
  %eight = torch.constant.int 8
  %zero = torch.constant.float 0.0
  %n = torch.aten.size.int %x, %first : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %negated = torch.aten.neg.int %n : !torch.int -> !torch.int
  %border = torch.aten.remainder.int %negated, %eight : !torch.int, !torch.int -> !torch.int
  %borders = torch.prim.ListConstruct %first, %border : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %borders, %zero : !torch.vtensor<[?],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %first = torch.constant.int 0
  %eight = torch.constant.int 8
  %zero = torch.constant.float 0.0
  %n = torch.aten.size.int %x, %first : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %border = torch.aten.remainder.int %n, %eight : !torch.int, !torch.int -> !torch.int
  %borders = torch.prim.ListConstruct %first, %border : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %borders, %zero : !torch.vtensor<[?],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
""",
    ),
)
define(
    "FIS168",
    "unknown-as-minus-one",
    "the numbers will be wrong: IREE computes with -1 for an unknown size",
    "An onnx.MaxPool, AveragePool or LpPool with auto_pad = SAME_UPPER or SAME_LOWER and steps of 2 or more, a MaxPool with other borders before than after, an ArgMax or ArgMin with select_last_index, a CenterCropPad, or an LRN over several unknown sizes, has an operand "
    "of unknown size: a model whose image or sequence may have any size. IREE pads, counts or crops for a size of -1. The numbers are wrong, and for some pools it reads past the image.",
    "IREE 3.13's import (torch-mlir) computes borders and positions when it reads the op, from the sizes of its type. An unknown size is -1 there. Its convolutions "
    "compute their borders at run time, and are right.",
    "fissile computes them at run time (`fissile-measure-sizes`). Where that does not fit (a pool with a second result), export the model with a known size, or with borders of its own.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[1,1,?],f32>) -> !torch.vtensor<[1,1,?],f32> attributes {torch.onnx_meta.opset_version = 19 : si64} {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.auto_pad = "SAME_UPPER", torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [2 : si64]}
    : (!torch.vtensor<[1,1,?],f32>) -> !torch.vtensor<[1,1,?],f32>
  return %r : !torch.vtensor<[1,1,?],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[1,1,8],f32>) -> !torch.vtensor<[1,1,4],f32> attributes {torch.onnx_meta.opset_version = 19 : si64} {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.auto_pad = "SAME_UPPER", torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [2 : si64]}
    : (!torch.vtensor<[1,1,8],f32>) -> !torch.vtensor<[1,1,4],f32>
  return %r : !torch.vtensor<[1,1,4],f32>
}
""",
    ),
)
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
define(
    "FIS185",
    "pivot-of-zero",
    "the numbers may be wrong: a determinant is divided by a pivot of 0",
    "The determinant of [[0, 1], [1, 0]] is -1, and IREE's is NaN. So it is for every matrix in which a column has a 0 on the diagonal when the "
    "elimination gets there: permutations, rotations by a right angle, some cameras' matrices. A pivot that is small beside the elements below "
    "it costs digits.",
    "The lowering of aten.linalg_det and onnx.Det in IREE 3.13's import (torch-mlir) eliminates without an exchange of rows.",
    "fissile writes it as a loop that exchanges rows as LAPACK does (`fissile-solve-systems`), for f32. In the model, compute the determinant of a small "
    "matrix from its elements.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[],f32> {
  %r = torch.aten.linalg_det %x : !torch.vtensor<[2,2],f32> -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %r = torch.aten.sum %x, %none : !torch.vtensor<[2,2],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}
""",
    ),
)
define(
    "FIS195",
    "sum-of-booleans",
    "the numbers are wrong: true + true is false",
    "StableHLO defines the sum of booleans as their disjunction: true + true is true. IREE computes false. Reductions and scatters of booleans with "
    "stablehlo.add are affected as well.",
    "IREE 3.13's import makes an arith.addi of 1 bit of stablehlo.add, which is an exclusive or.",
    "fissile writes it as stablehlo.or (`fissile-join-booleans`). In the model, use a logical or.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %r = stablehlo.add %x, %y : tensor<4xi1>
  return %r : tensor<4xi1>
}
""",
        """\
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %r = stablehlo.or %x, %y : tensor<4xi1>
  return %r : tensor<4xi1>
}
""",
    ),
)
define(
    "FIS199",
    "dropped-nan",
    "the numbers may be wrong: the larger, the smaller or the sign of a NaN is a number",
    "An onnx.Max, onnx.Min, aten.maximum or aten.minimum of floats is a NaN if one of the operands is, and so is the onnx.Sign of a NaN. IREE passes on a NaN "
    "only if it is the last operand, and the sign of one is 0. For other operands the numbers are right.",
    "IREE 3.13's import compares the operands and selects the second where the comparison is false, as it is of a NaN.",
    "fissile compares an operand that may be a NaN with itself, and puts a constant in front of it (`fissile-keep-nans`). It looks at no Clip, no aten.clamp and no "
    "aten.hardtanh, which make a bound of a NaN: a network has one behind most of its convolutions (ReLU6), and only a network that already "
    "computes NaNs has another result.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = torch.aten.maximum %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %x = torch.vtensor.literal(dense<1.0> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %r = torch.aten.maximum %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS210",
    "unsigned-bias",
    "the numbers are wrong: IREE drops the sign of negative constants of 48 bits",
    "TOSA sums products of 16-bit activations and 8-bit weights in 48 bits, and so the bias of such a layer is a constant of 48 bits: TFLite's 16x8 "
    "quantisation. IREE reads a bias of -1 as 281474976710655, and each sum that it is added to is wrong.",
    "IREE 3.13's import of TOSA computes with 64 bits in place of 48, and extends its constants with zeros.",
    "fissile writes such a constant with 32 bits, or two parts of them, and extends it with its sign (`fissile-extend-constants`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<1x4x4x2xi16>, %w: tensor<2x1x1x2xi8>) -> tensor<1x4x4x2xi16> {
  %bias = "tosa.const"() <{values = dense<[5, -7]> : tensor<2xi48>}> : () -> tensor<2xi48>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %none = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %wide = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %scale = "tosa.const"() <{values = dense<21000> : tensor<1xi16>}> : () -> tensor<1xi16>
  %shift = "tosa.const"() <{values = dense<25> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sum = "tosa.conv2d"(%x, %w, %bias, %zero, %none) <{acc_type = i48, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}>
    : (tensor<1x4x4x2xi16>, tensor<2x1x1x2xi8>, tensor<2xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x4x4x2xi48>
  %r = "tosa.rescale"(%sum, %scale, %shift, %wide, %zero) <{rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = false, per_channel = false,
    input_unsigned = false, output_unsigned = false}> : (tensor<1x4x4x2xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>) -> tensor<1x4x4x2xi16>
  return %r : tensor<1x4x4x2xi16>
}
""",
        """\
func.func @f(%x: tensor<1x4x4x2xi8>, %w: tensor<2x1x1x2xi8>) -> tensor<1x4x4x2xi32> {
  %bias = "tosa.const"() <{values = dense<[5, -7]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sum = "tosa.conv2d"(%x, %w, %bias, %zero, %zero) <{acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}>
    : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x2xi32>
  return %sum : tensor<1x4x4x2xi32>
}
""",
    ),
)
define(
    "FIS211",
    "finite-extremes",
    "the numbers may be wrong: IREE makes an extreme that is infinite the largest finite number",
    "The largest of elements that are all negative infinity is -3.40282e+38 for `tosa.reduce_max` and `tosa.max_pool2d`, and the smallest of positive "
    "infinities 3.40282e+38 for `tosa.reduce_min`: the maximum of a row of scores that a mask of infinities hides, for example.",
    "IREE 3.13's import of TOSA starts a reduction or a pool at the largest finite number of the type (`tosa-to-linalg` without `allow-non-finites`).",
    "fissile writes such an op as a reduction or a pool that starts at infinity (`fissile-keep-infinities`). It leaves those alone whose operand is bounded: "
    "behind a clamp, a sigmoid, a conversion from integers, and what moves their elements.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%scores: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %r = "tosa.reduce_max"(%scores) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}
""",
        """\
func.func @f(%scores: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %finite = "tosa.clamp"(%scores) <{min_val = -1.0e+30 : f32, max_val = 1.0e+30 : f32}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = "tosa.reduce_max"(%finite) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}
""",
    ),
)
define(
    "FIS216",
    "boolean-product",
    "the numbers will be wrong: a matrix product of booleans counts",
    "A matrix product has booleans for elements: which nodes of a graph are reached in two steps, for example. An element of the result is true if one of its "
    "products is. IREE's code for the CPU counts the products that are true, modulo 256; an op that reads the result takes an even count for false, and the "
    "caller gets the count.",
    "IREE 3.13 computes booleans as bytes (TypePropagation), and the body of a named op follows the types of its elements: `or` and `and` become a sum and a "
    "product. Other targets, and the highest optimisation level, give the op a body of its own before that.",
    "fissile does so too (`fissile-generalise-booleans`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: tensor<4x8xi1>, %b: tensor<8x4xi1>) -> tensor<4x4xi1> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xi1>, tensor<8x4xi1>) -> tensor<4x4xi1>
  return %r : tensor<4x4xi1>
}
""",
        """\
func.func @f(%a: tensor<4x8xi1>, %b: tensor<8x4xi1>) -> tensor<4x4xi1> {
  %x = stablehlo.convert %a : (tensor<4x8xi1>) -> tensor<4x8xi32>
  %y = stablehlo.convert %b : (tensor<8x4xi1>) -> tensor<8x4xi32>
  %count = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xi32>, tensor<8x4xi32>) -> tensor<4x4xi32>
  %r = stablehlo.convert %count : (tensor<4x4xi32>) -> tensor<4x4xi1>
  return %r : tensor<4x4xi1>
}
""",
    ),
)
define(
    "FIS217",
    "narrow-kernel",
    "the numbers will be wrong: the kernel of a depthwise convolution is read as wider elements",
    "A depthwise stablehlo.convolution has a constant kernel whose elements are narrower than the result's: int8 weights and an int32 result, for example. IREE "
    "reads the bytes of the kernel as elements of the result's type, and bytes of other data behind it.",
    "IREE 3.13's import takes two dimensions of the kernel together with an op whose result has the wrong element type. It rejects the op if the kernel is an "
    "argument (FIS421), and folds it without a look at the types if it is a constant.",
    "fissile extends the kernel to the element type of the result (`fissile-widen-operands`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<1x5x5x2xi8>) -> tensor<1x3x5x2xi32> {
  %kernel = stablehlo.constant dense<[[[[1, -2]]], [[[3, 4]]], [[[-5, 6]]]]> : tensor<3x1x1x2xi8>
  %r = stablehlo.convolution(%x, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x5x2xi8>, tensor<3x1x1x2xi8>) -> tensor<1x3x5x2xi32>
  return %r : tensor<1x3x5x2xi32>
}
""",
        """\
func.func @f(%x: tensor<1x5x5x2xi8>) -> tensor<1x3x5x2xi32> {
  %wide = arith.extsi %x : tensor<1x5x5x2xi8> to tensor<1x5x5x2xi32>
  %kernel = stablehlo.constant dense<[[[[1, -2]]], [[[3, 4]]], [[[-5, 6]]]]> : tensor<3x1x1x2xi32>
  %r = stablehlo.convolution(%wide, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x5x2xi32>, tensor<3x1x1x2xi32>) -> tensor<1x3x5x2xi32>
  return %r : tensor<1x3x5x2xi32>
}
""",
    ),
)
define(
    "FIS218",
    "converted-before-comparison",
    "the numbers may be wrong: IREE rounds the operand of a threshold before it compares it",
    "aten.threshold_backward, the gradient of ReLU, passes the incoming gradient on where the operand is above the threshold. IREE computes in the type of the gradient: "
    "if that is an integer, 0.9 and a threshold of 0.5 are both 0, and the gradient is lost; if it has fewer bits, operands next to the threshold are rounded to it.",
    "IREE 3.13's import (torch-mlir) converts all operands to the type of the result, which is that of the gradient.",
    "fissile compares the operand in its own type (`fissile-compare-before-conversion`). In the model, give the gradient the type of the operand.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%g: !torch.vtensor<[4],si64>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si64> {
  %half = torch.constant.float 5.000000e-01
  %r = torch.aten.threshold_backward %g, %x, %half : !torch.vtensor<[4],si64>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],si64>
  return %r : !torch.vtensor<[4],si64>
}
""",
        """\
func.func @f(%g: !torch.vtensor<[4],f32>, %x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %half = torch.constant.float 5.000000e-01
  %r = torch.aten.threshold_backward %g, %x, %half : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
