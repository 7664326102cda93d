"""Findings about ops that IREE's import of a front end's program reads as others: part of FIS1xx."""

from fissile.effect import Effect

from ..input import COMPILE
from ..rule import define
from ..shown import Shown

define(
    "FIS154",
    "misread-permutation",
    "the numbers will be wrong: a broadcast reorders dimensions the other way round",
    "A stablehlo.broadcast_in_dim whose operand and result have the same sizes only reorders dimensions, for example with dims = [1, 2, 0]. IREE "
    "applies the inverse permutation. That is another one if three or more dimensions change places in a circle.",
    "IREE 3.13 turns the op into a stablehlo.transpose and copies the dimensions as its permutation. They say where a dimension of the operand goes; a "
    "permutation says where a dimension of the result comes from. If the sizes differ, IREE rejects the program instead (FIS421).",
    "fissile writes the op as a stablehlo.transpose with the right permutation (`fissile-order-broadcast-dims`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %r : tensor<2x2x2xf32>
}
""",
        """\
func.func @f(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %r = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %r : tensor<2x2x2xf32>
}
""",
    ),
)
define(
    "FIS155",
    "unsigned-product",
    "the numbers will be wrong: unsigned operands of a product are extended as signed",
    "A stablehlo.dot_general or stablehlo.convolution has an operand of unsigned integers that are narrower than the result: ui8 to i32, for example. "
    "IREE reads 200 as -56, and on GPUs true as -1. The same happens if the program converts the operand to a wider type in front of the op, as "
    "`image.astype(jnp.float32) @ weights` does for a uint8 image.",
    "IREE 3.13's import drops a widening stablehlo.convert in front of these ops and makes linalg ops of signless integers of them, which extend "
    "their operands as signed numbers.",
    "fissile extends the operands as unsigned numbers, with ops that IREE does not drop (`fissile-widen-operands`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%image: tensor<2x4xui8>, %weights: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %x = stablehlo.convert %image : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %r = stablehlo.dot_general %x, %weights, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
""",
        """\
func.func @f(%image: tensor<2x4xui8>, %weights: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %bits = stablehlo.bitcast_convert %image : (tensor<2x4xui8>) -> tensor<2x4xi8>
  %x = arith.uitofp %bits : tensor<2x4xi8> to tensor<2x4xf32>
  %r = stablehlo.dot_general %x, %weights, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
""",
    ),
)
define(
    "FIS157",
    "nested-insert",
    "the numbers will be wrong: a padded tensor is padded again, and its elements move",
    "A tensor is put into a larger one, and that into a third; all elements around it have one value, and one of the two ops leaves gaps: a "
    "stablehlo.pad with interior padding, or a tensor.insert_slice with steps. The gradient of a strided slice of a slice has this form.",
    "IREE 3.13 joins the two ops and adds their positions up (FoldInsertPadIntoFill and similar folds). It does not multiply the inner position by the "
    "steps of the outer op, and drops the steps of the inner one.",
    "fissile writes both as one stablehlo.pad (`fissile-join-pads`), or keeps them apart (`fissile-separate-inserts`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %zero, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %r = stablehlo.pad %y, %zero, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
""",
        """\
func.func @f(%x: tensor<4xf32>) -> tensor<9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.pad %x, %zero, low = [2], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
""",
    ),
)
define(
    "FIS164",
    "assumed-size",
    "the numbers may be wrong: IREE takes an unknown size of a reshape to be 1, or its -1 to be a size",
    "An aten.view, aten.reshape or onnx.Reshape makes one dimension of several whose size is not known, and another one of several known ones "
    "behind them: [batch, sequence, 4, 8] -> [batch * sequence, 32], as every attention with heads has it whose batch and sequence are both dynamic. "
    "IREE reads the operand as [batch, 1, 4, 8]. Most elements of the result are then missing, or lie elsewhere. Or the sizes of a view, reshape or unflatten have a -1 beside other unknown sizes: "
    "x.view(batch, -1, 4). IREE takes it to be a size, and the module fails when it is called.",
    "IREE 3.13's import (torch-mlir) pairs the dimensions of operand and result from the left: it takes batch to be the whole first dimension, and "
    "what is left over, the sequence, to be 1. It checks that at run time only where the exporter does not promise strict symbolic shapes, which iree-turbine "
    "always does. Which reshapes it reads in this way is not modelled: fissile imports the op alone, and looks at the result.",
    "fissile merges the dimensions before the reshape, the known ones by themselves and the unknown ones by themselves (`fissile-merge-dims`), so that one unknown size "
    "is left, which follows from the others, and computes what -1 stands for (`fissile-infer-sizes`). In the model, write `x.flatten(2).flatten(0, 1)`.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[?,?,4,8],f32>) -> !torch.vtensor<[?,32],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %rows = torch.constant.int -1
  %columns = torch.constant.int 32
  %sizes = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.mul.Tensor %x, %x : !torch.vtensor<[?,?,4,8],f32>, !torch.vtensor<[?,?,4,8],f32> -> !torch.vtensor<[?,?,4,8],f32>
  %r = torch.aten.view %y, %sizes : !torch.vtensor<[?,?,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,32],f32>
  return %r : !torch.vtensor<[?,32],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,32],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %rows = torch.constant.int -1
  %columns = torch.constant.int 32
  %sizes = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.mul.Tensor %x, %x : !torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32> -> !torch.vtensor<[?,?,32],f32>
  %r = torch.aten.view %y, %sizes : !torch.vtensor<[?,?,32],f32>, !torch.list<int> -> !torch.vtensor<[?,32],f32>
  return %r : !torch.vtensor<[?,32],f32>
}
""",
    ),
)
define(
    "FIS165",
    "unsigned-as-signed",
    "the numbers may be wrong: IREE computes with unsigned bytes as if they had a sign",
    "An op of PyTorch on torch.uint8 whose result has another type, or which orders, adds up or divides: image / 255, 0.5 * image, image.sum(), "
    "torch.sort(image), image % 5, or a comparison with another type: image > 0.5 * image.float(). A conversion of floats to torch.uint8 or ONNX's uint8: values above 127 may become 127. Of ONNX's ops on uint8 these are Abs, Clip, Div, MaxPool and Mod. IREE reads 200 as -56, and in a conversion to complex numbers True as -1.",
    "IREE 3.13's import (torch-mlir) does not pass on that the operand is unsigned where it converts it to the type of the result, and makes signed "
    "bytes of floats. Another explicit conversion, `image.float()`, is right.",
    "fissile converts such operands to 32 bits before the op (`fissile-widen-unsigned`). In the model, write `image.float() / 255`.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],f32> {
  %most = torch.constant.int 255
  %r = torch.aten.div.Scalar %x, %most : !torch.vtensor<[4],ui8>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],f32> {
  %most = torch.constant.int 255
  %f32 = torch.constant.int 6
  %no = torch.constant.bool false
  %none = torch.constant.none
  %y = torch.aten.to.dtype %x, %f32, %no, %no, %none : !torch.vtensor<[4],ui8>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  %r = torch.aten.div.Scalar %y, %most : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
""",
    ),
)
define(
    "FIS166",
    "other-statistics",
    "the numbers will be wrong: instance normalisation by other statistics than the program has",
    "An aten.instance_norm with a weight and a bias normalises over a dimension whose size is not known, as nn.InstanceNorm2d(affine=True) does for images of "
    "any size, or by statistics that the model holds (track_running_stats=True, in evaluation). IREE ignores the latter. An onnx.InstanceNormalization of "
    "unknown sizes is the same.",
    "IREE 3.13's import (torch-mlir) takes the number of elements for the mean and the variance from the type, where an unknown size is a negative number. It "
    "always computes both from the input.",
    "fissile writes the op as means, a root and products (`fissile-normalise-instances`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[1,2,?],f32>, %weight: !torch.vtensor<[2],f32>, %bias: !torch.vtensor<[2],f32>) -> !torch.vtensor<[1,2,?],f32> {
  %none = torch.constant.none
  %yes = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %r = torch.aten.instance_norm %x, %weight, %bias, %none, %none, %yes, %momentum, %eps, %yes
    : !torch.vtensor<[1,2,?],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[1,2,?],f32>
  return %r : !torch.vtensor<[1,2,?],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[1,2,8],f32>, %weight: !torch.vtensor<[2],f32>, %bias: !torch.vtensor<[2],f32>) -> !torch.vtensor<[1,2,8],f32> {
  %none = torch.constant.none
  %yes = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %r = torch.aten.instance_norm %x, %weight, %bias, %none, %none, %yes, %momentum, %eps, %yes
    : !torch.vtensor<[1,2,8],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[1,2,8],f32>
  return %r : !torch.vtensor<[1,2,8],f32>
}
""",
    ),
)
define(
    "FIS170",
    "tied-selection",
    "the numbers may be wrong: another one of equal elements is selected",
    "A stablehlo.select_and_scatter adds each source element where its window has the selected element: the gradient of a maximum over windows. If a "
    "window has the largest element more than once, as after a ReLU, the program selects the first one, and IREE the last.",
    "IREE 3.13 calls the selection with its two values exchanged. The result differs only for equal elements.",
    "fissile exchanges the two values in the selection and negates its result (`fissile-swap-selections`).",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4x4xf32>, %gradient: tensor<2x2xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %gradient, %zero) <{window_dimensions = array<i64: 2, 2>,
      window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %first = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""",
        """\
func.func @f(%x: tensor<4x4xf32>, %gradient: tensor<2x2xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %gradient, %zero) <{window_dimensions = array<i64: 2, 2>,
      window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %first = stablehlo.compare GE, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %swapped = stablehlo.not %first : tensor<i1>
    stablehlo.return %swapped : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""",
    ),
)
define(
    "FIS160",
    "dropped-crop",
    "the numbers will be wrong: a pad takes elements away, and IREE drops it",
    "A pad with a constant has negative widths: they take elements away. With widths of 1 and -1 it moves a sequence by one position, as "
    "nn.ZeroPad2d((0, 0, 1, -1)) does in RWKV. IREE leaves the elements where they are.",
    "IREE 3.13 makes a tensor.pad of aten.constant_pad_nd, aten.pad and onnx.Pad. It drops a tensor.pad whose operand and result have the same type, "
    "even if elements move. If the type changes, it rejects the program.",
    "fissile writes the op as slices and a pad that only adds elements (`fissile-crop-before-padding`).",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %one = torch.constant.int 1
  %minus_one = torch.constant.int -1
  %none = torch.constant.int 0
  %zero = torch.constant.float 0.0
  %widths = torch.prim.ListConstruct %none, %none, %one, %minus_one : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %widths, %zero : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %one = torch.constant.int 1
  %minus_one = torch.constant.int -1
  %none = torch.constant.int 0
  %zero = torch.constant.float 0.0
  %rest = torch.aten.slice.Tensor %x, %none, %none, %minus_one, %one : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],f32>
  %widths = torch.prim.ListConstruct %none, %none, %one, %none : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %rest, %widths, %zero : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}
""",
    ),
)
define(
    "FIS162",
    "part-left-out",
    "the numbers will be wrong: IREE leaves out a part of an ONNX or PyTorch op",
    "An op of an ONNX model has an attribute or an operand that changes its result, and IREE ignores it: the zero points of a QLinearMatMul of "
    "batches of matrices, the scale of the bias of a QLinearConv whose weights have a scale for each channel, the alpha of ONNX Runtime's FusedMatMul, the order of the heads in its RotaryEmbedding of three dimensions, the saturation of a Cast or QuantizeLinear to an 8-bit float, the peepholes of an LSTM, the lengths of the sequences of a recurrent layer and the clip of an RNN, mode = CRD of a DepthToSpace, where MaxPool's Indices are in the whole tensor, and in models of opset 12 or older the sizes of a Split and the dimensions that a Hardmax merges, the "
    "weights in the mean of a SoftmaxCrossEntropyLoss, the end of the last windows of an AveragePool with ceil_mode = 1, the end of the "
    "tensor where a Slice runs backwards from behind it, the lowest value as border of a MaxPool of integers with other borders before than after (IREE pads with 0), the sign of a negative integer that Pow raises to the power of a float, some places of a Resize, and of a Scan the directions, the axes and all steps but one where the length is not known. Zero points and peepholes that are 0 change nothing. Of PyTorch: the default epsilon of an rms_norm, the windows of several sizes of an adaptive_max_pool2d, which stops when it is run, the remainder of a roll by more places than the dimension has, a write at the last index (`x[:, -1] = y`), the last element of a convolution with padding 'same' and an even window, the negative widths of a pad that repeats the border (both where a size is not known: the others it rejects), and of max_unpool (and ONNX's MaxUnpool) the numbers outside of the windows that it assumes, and of other channels.",
    "IREE 3.13's import of ONNX multiplies the bare integers of a batch; it has a product with zero points only for two matrices. Some of the other "
    "parts it does not read; from others it computes another result.",
    "fissile writes such products and convolutions as DequantizeLinear, MatMul or Conv, and QuantizeLinear (`fissile-dequantise-products`), and clips "
    "before a cast (`fissile-saturate-casts`), and writes pools, slices, rotary embeddings and the factor of a product in a way that IREE reads (`fissile-pool-windows`, `fissile-clamp-slices`, "
    "`fissile-scale-products`, `fissile-turn-heads`, `fissile-pad-pools`, `fissile-number-elements`, `fissile-shuffle-pixels`, `fissile-slice-parts`, `fissile-flatten-axes`, `fissile-score-classes`, `fissile-raise-integers`, `fissile-write-epsilons`, `fissile-gather-windows`, `fissile-scatter-maxima`, `fissile-wrap-rolls`, `fissile-count-indices`, `fissile-write-borders`), and recurrent layers and scans step by step (`fissile-write-out-layers`, `fissile-loop-scans`). An ONNX model of an opset before 17 is converted to a newer one where that helps. For the others there is no output: rewrite them in the model.",
    effect=Effect.WRONG,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%a: !torch.vtensor<[2,3,4],si8>, %b: !torch.vtensor<[2,4,5],si8>, %scale: !torch.vtensor<[],f32>, %zero: !torch.vtensor<[],si8>)
    -> !torch.vtensor<[2,3,5],si8> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %r = torch.operator "onnx.QLinearMatMul"(%a, %scale, %zero, %b, %scale, %zero, %scale, %zero)
    : (!torch.vtensor<[2,3,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4,5],si8>, !torch.vtensor<[],f32>,
       !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,3,5],si8>
  return %r : !torch.vtensor<[2,3,5],si8>
}
""",
        """\
func.func @f(%a: !torch.vtensor<[3,4],si8>, %b: !torch.vtensor<[4,5],si8>, %scale: !torch.vtensor<[],f32>, %zero: !torch.vtensor<[],si8>)
    -> !torch.vtensor<[3,5],si8> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %r = torch.operator "onnx.QLinearMatMul"(%a, %scale, %zero, %b, %scale, %zero, %scale, %zero)
    : (!torch.vtensor<[3,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[4,5],si8>, !torch.vtensor<[],f32>,
       !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[3,5],si8>
  return %r : !torch.vtensor<[3,5],si8>
}
""",
    ),
)
define(
    "FIS163",
    "grid-outside-image",
    "the numbers may be wrong: grid sampling reads past the image",
    "An onnx.GridSample or aten.grid_sampler (torch.nn.functional.grid_sample) with zeros around the image has points that lie more than one element "
    "outside. IREE reads the image there, past its end, and uses what it finds; the storage guard ends such a call with FAILED_PRECONDITION. "
    "In mode nearest a point in the middle of two elements takes the other one.",
    "IREE 3.13's lowering clamps a place that is one outside, and no other; for nearest it adds a half and rounds down, where ONNX and PyTorch round "
    "to even.",
    "fissile writes the op as one that masks what lies outside (`fissile-sample-grids`), for linear and nearest sampling. With the border around the image, "
    "which IREE rejects in ONNX models, it does the same (FIS421).",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: !torch.vtensor<[1,1,3,2],f32>, %grid: !torch.vtensor<[1,2,4,2],f32>) -> !torch.vtensor<[1,1,2,4],f32> {
  %linear = torch.constant.int 0
  %zeros = torch.constant.int 0
  %corners = torch.constant.bool false
  %r = torch.aten.grid_sampler %x, %grid, %linear, %zeros, %corners
    : !torch.vtensor<[1,1,3,2],f32>, !torch.vtensor<[1,2,4,2],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[1,1,2,4],f32>
  return %r : !torch.vtensor<[1,1,2,4],f32>
}
""",
        """\
func.func @f(%x: !torch.vtensor<[1,1,3,2],f32>, %rows: !torch.vtensor<[2],si64>) -> !torch.vtensor<[1,1,2,2],f32> {
  %dim = torch.constant.int 2
  %r = torch.aten.index_select %x, %dim, %rows
    : !torch.vtensor<[1,1,3,2],f32>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[1,1,2,2],f32>
  return %r : !torch.vtensor<[1,1,2,2],f32>
}
""",
    ),
)
define(
    "FIS219",
    "masked-rows",
    "the numbers may be wrong: where the mask of an attention leaves nothing of a row, it is NaN",
    "An aten.scaled_dot_product_attention has a mask, and PyTorch gives 0 for a query whose row of the mask is false, or minus infinity, throughout: the padding "
    "of a batch of sequences, for example. IREE gives NaN, which the next layer spreads over the sequence.",
    "IREE 3.13 adds minus infinity to masked scores and subtracts the row's maximum, which is minus infinity as well.",
    "fissile selects 0 for such rows (`fissile-clear-masked-rows`). A mask that has no such row whatever the program is given is left alone: a causal one, or finite numbers.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%q: !torch.vtensor<[1,2,4,8],f32>, %mask: !torch.vtensor<[1,1,4,4],i1>) -> !torch.vtensor<[1,2,4,8],f32> {
  %zero = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,1,4,4],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>
  return %r : !torch.vtensor<[1,2,4,8],f32>
}
""",
        """\
func.func @f(%q: !torch.vtensor<[1,2,4,8],f32>) -> !torch.vtensor<[1,2,4,8],f32> {
  %zero = torch.constant.float 0.0
  %yes = torch.constant.bool true
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %zero, %yes, %none, %no
    : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>
  return %r : !torch.vtensor<[1,2,4,8],f32>
}
""",
    ),
)
