"""Findings about fusion and code generation: FIS1xx, where no failure of a dispatch declares them and no comparison does."""

from fissile.effect import Effect

from .input import COMPILE
from .rule import define
from .shown import Shown

PACKED_BOOLEANS = """\
func.func @f(%a: tensor<64xi1, #iree_encoding.packed_storage>) -> tensor<64xi1> {
  %e = tensor.empty() : tensor<64xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<64xi1, #iree_encoding.packed_storage>) outs(%e : tensor<64xi1>) {
  ^bb0(%x: i1, %_: i1):
    %yes = arith.constant true
    %not = arith.xori %x, %yes : i1
    linalg.yield %not : i1
  } -> tensor<64xi1>
  return %r : tensor<64xi1>
}
"""
"""IREE refuses it for gfx942 (FIS136), and the repair is no lowering configuration (FIS122)."""

define(
    "FIS114",
    "remedy-does-not-apply",
    "a remedy does not apply to an op",
    "A pass received an op, by its index in `ops`, that it cannot change; or `fissile-pack-narrow-storage` met an "
    "op on narrow elements that it has no 32-bit form for. The finding gives the pass's reason.",
    "The index may belong to another op: indices count the linalg ops of the module in program order. Or the pass "
    "does not support the form of the op: its loops, its sizes, or the ops in its body (`fissile passes NAME` "
    "describes what the pass supports).",
    "Leave the op out of `ops`, or choose another remedy (docs/remedies.md). For narrow elements, cast to 32 bits "
    "before the op, or compile for a target with narrow storage (`--match-device=vulkan`).",
    shown=Shown(
        "fissile-opt in.mlir --pass-pipeline='builtin.module(fissile-use-results{ops=0})'",
        """\
func.func @f(%r: tensor<4xf32>, %i: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %stage = arith.constant 1 : index
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%r, %i : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
""",
        """\
func.func @f(%r: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %stage = arith.constant 1 : index
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%r, %i : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS136",
    "packed-booleans",
    "the target cannot store booleans as single bits",
    "A GPU dispatch reads or writes an i1 tensor with the encoding `#iree_encoding.packed_storage`. IREE stops "
    "while it configures the dispatch, with an unresolved materialization.",
    "IREE 3.13 drops the encoding on AMD and NVIDIA targets and then cannot convert between the two types.",
    "fissile reads and writes such tensors as 32-bit words. By hand: remove the encoding, so that a boolean takes a "
    "byte.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile compile in.mlir --target=gfx942 -o out.vmfb",
        PACKED_BOOLEANS,
        """\
func.func @f(%a: tensor<64xi1>) -> tensor<64xi1> {
  %e = tensor.empty() : tensor<64xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<64xi1>) outs(%e : tensor<64xi1>) {
  ^bb0(%x: i1, %_: i1):
    %yes = arith.constant true
    %not = arith.xori %x, %yes : i1
    linalg.yield %not : i1
  } -> tensor<64xi1>
  return %r : tensor<64xi1>
}
""",
    ),
)
define(
    "FIS223",
    "partial-bytes",
    "elements of less than a byte fill no whole bytes, and IREE rejects the tensor",
    "A tensor has an odd number of 4-bit elements (or a number of 2-bit elements that four does not divide): zero points of seven channels, 5x3x3 "
    "weights. IREE stops with `failed to calculate total byte count: 'tensor<7xi4>' does not have integral number of total bytes`.",
    "IREE 3.13 lays i2, i4 and f4E2M1FN out side by side, and rejects what leaves a part of its last byte empty (EncodeTensors). Of tensors with dynamic "
    "sizes it rounds up.",
    "fissile computes constants and intermediate results of such types in 32 bits (`fissile-fill-bytes`). An argument or a result it leaves: its bytes are "
    "the caller's. Pass it as i8, or with a column more.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<3x7xi8>) -> tensor<3x7xi8> {
  %e = tensor.empty() : tensor<3x7xi4>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x7xi8>) outs(%e : tensor<3x7xi4>) {
  ^bb0(%a: i8, %_: i4):
    %t = arith.trunci %a : i8 to i4
    linalg.yield %t : i4
  } -> tensor<3x7xi4>
  %kept = util.optimization_barrier %q : tensor<3x7xi4>
  %o = tensor.empty() : tensor<3x7xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%kept : tensor<3x7xi4>) outs(%o : tensor<3x7xi8>) {
  ^bb0(%a: i4, %_: i8):
    %t = arith.extsi %a : i4 to i8
    linalg.yield %t : i8
  } -> tensor<3x7xi8>
  return %r : tensor<3x7xi8>
}
""",
        """\
func.func @f(%x: tensor<3x7xi8>) -> tensor<3x7xi8> {
  %e = tensor.empty() : tensor<3x7xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x7xi8>) outs(%e : tensor<3x7xi8>) {
  ^bb0(%a: i8, %_: i8):
    %t = arith.trunci %a : i8 to i4
    %s = arith.extsi %t : i4 to i8
    linalg.yield %s : i8
  } -> tensor<3x7xi8>
  %kept = util.optimization_barrier %q : tensor<3x7xi8>
  return %kept : tensor<3x7xi8>
}
""",
    ),
)
define(
    "FIS119",
    "unread-border",
    "a single-position window leaves part of its operand unread, and IREE rejects the op",
    "A convolution or pooling whose result is one pixel wide does not read the last rows of its input (3x3 with "
    "stride 2 on 4x4). IREE stops in global optimisation: `inferred input/output operand #1 has shape's dimension "
    "#1 to be 4, but found 3`.",
    "IREE 3.13 drops loops that run once without making the operand smaller, and its own verifier rejects the "
    "result. Small inputs to strided networks trigger this on every target.",
    "fissile slices the unread border off first (`fissile-trim-borders`). No number changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x1x2xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %empty = tensor.empty() : tensor<1x1x1x2xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %window : tensor<1x4x4x2xf32>, tensor<3x3xf32>) outs(%start : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %r : tensor<1x1x1x2xf32>
}
""",
        """\
func.func @f(%x: tensor<1x3x3x2xf32>) -> tensor<1x1x1x2xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %empty = tensor.empty() : tensor<1x1x1x2xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %window : tensor<1x3x3x2xf32>, tensor<3x3xf32>) outs(%start : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %r : tensor<1x1x1x2xf32>
}
""",
    ),
)
define(
    "FIS122",
    "not-in-the-spec",
    "the tuning spec cannot express every repair",
    "`--emit-tuning-spec=FILE` writes those repairs that are lowering configurations; stock iree-compile takes the "
    "spec together with the unchanged program. Here some or all repairs change the program itself.",
    "A lowering configuration chooses tiles and a pipeline for the root of one dispatch; it cannot split a dispatch "
    "or change a type. Without `--tune`, fissile repairs by configuration only on AMD and NVIDIA GPUs.",
    "Use `--emit-mlir=FILE` to write the repaired module, which stock iree-compile takes with "
    "--compile-from=global-optimization.",
    shown=Shown(
        "fissile compile in.mlir --target=gfx942 -o out.vmfb --emit-tuning-spec=spec.mlir",
        PACKED_BOOLEANS,
        repaired_command="fissile compile in.mlir --target=gfx942 -o out.vmfb --emit-mlir=repaired.mlir",
    ),
)
define(
    "FIS126",
    "host-float",
    "the host code holds a float of less than 32 bits, for which IREE's VM has no type",
    "A scalar f16, bf16 or 8-bit float is computed outside of every dispatch. IREE stops at the end of the compile, "
    "on every target (`failed to legalize operation 'util.initializer'`). An fp16 network whose pooling pads with "
    "-3.4e38 is an example.",
    "MLIR does not fold a cast of a constant that rounds or overflows. IREE 3.13 hoists the cast into a global, and "
    "the VM has only types of 32 bits and more.",
    "fissile evaluates the cast and places the constant where it is used (`fissile-fold-host-floats`). No number "
    "changes.",
    effect=Effect.REFUSED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<4xf16>) -> tensor<6xf16> {
  %c = arith.constant -3.40282347E+38 : f32
  %h = arith.truncf %c : f32 to f16
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %h : f16
  } : tensor<4xf16> to tensor<6xf16>
  return %r : tensor<6xf16>
}
""",
        """\
func.func @f(%x: tensor<4xf16>) -> tensor<6xf16> {
  %h = arith.constant 0xFC00 : f16
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %h : f16
  } : tensor<4xf16> to tensor<6xf16>
  return %r : tensor<6xf16>
}
""",
    ),
)
define(
    "FIS140",
    "recomputed-producer",
    "a producer is recomputed for every use, or ends the vectorisation of its consumer",
    "An elementwise producer (usually a dequantisation) is fused into the body of a convolution or reduction that "
    "reads each of its elements many times, or a transposition into a convolution (of weights that are arguments, as JAX exports them, or of a gradient). "
    "The program is right, but on llvm-cpu it is 5 to 65 times slower than it could be.",
    "IREE folds the producer into the loop nest of its consumer. The producer is evaluated for every multiply-add, "
    "and the vectoriser no longer recognises the body as a contraction. A transposition becomes a part of the convolution's indexing map, and IREE 3.13 "
    "vectorises convolutions in the order of nhwc_hwcf, nchw_fchw and nhwc_hwc only.",
    "`--fusion=tune` places a fusion boundary behind the producer.",
    effect=Effect.SLOW,
    shown=Shown(
        "fissile check in.mlir --target=llvm-cpu",
        """\
func.func @f(%x: tensor<1x8x18x18xi8>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %scale_xd = arith.constant 0.0078125 : f32
  %room_xd = tensor.empty() : tensor<1x8x18x18xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x8x18x18xi8>) outs(%room_xd : tensor<1x8x18x18xf32>) {
  ^bb0(%in: i8, %_: f32):
    %wide = arith.sitofp %in : i8 to f32
    %scaled = arith.mulf %wide, %scale_xd : f32
    linalg.yield %scaled : f32
  } -> tensor<1x8x18x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%xd, %w : tensor<1x8x18x18xf32>, tensor<8x8x3x3xf32>) outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %r : tensor<1x8x16x16xf32>
}
""",
        """\
func.func @f(%xd: tensor<1x8x18x18xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%xd, %w : tensor<1x8x18x18xf32>, tensor<8x8x3x3xf32>) outs(%start : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  return %r : tensor<1x8x16x16xf32>
}
""",
    ),
)
define(
    "FIS212",
    "unvectorised-convolution",
    "a convolution is not vectorised",
    "A convolution of three dimensions, one with groups, or a depthwise one in the order NCHW (PyTorch, ONNX) is computed by scalar code. The program is "
    "right, but on llvm-cpu the convolution is up to 30 times slower than it could be (4.6 times in the mean of 79 programs).",
    "IREE 3.13 vectorises a convolution on llvm-cpu in the orders of nhwc_hwcf, nchw_fchw and nhwc_hwc only (`ConvTileAndDecomposeExpert`).",
    "`--fusion=tune` computes it as one product for each element of the window, each of which IREE vectorises (`fissile-unroll-windows`). Sums are added in "
    "another order.",
    effect=Effect.SLOW,
    shown=Shown(
        "fissile check in.mlir --target=llvm-cpu",
        """\
func.func @f(%x: tensor<1x32x30x30xf32>, %w: tensor<32x3x3xf32>) -> tensor<1x32x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x32x28x28xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x30x30xf32>, tensor<32x3x3xf32>) outs(%start : tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  return %r : tensor<1x32x28x28xf32>
}
""",
        """\
func.func @f(%x: tensor<1x30x30x32xf32>, %w: tensor<3x3x32xf32>) -> tensor<1x28x28x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x28x28x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x30x30x32xf32>, tensor<3x3x32xf32>) outs(%start : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  return %r : tensor<1x28x28x32xf32>
}
""",
    ),
)
define(
    "FIS213",
    "transposed-matrix",
    "a matrix is transposed in memory for one product with a vector",
    "A linear layer with one row (`x @ w.T`, as in the decoder of a language model) whose weights are an argument, as JAX exports them. On llvm-cpu each call "
    "writes the transposed matrix to memory and reads it back: for a matrix of 2 MiB or more 1.4 to 15 times slower than reading it as it is, and as many bytes more.",
    "IREE 3.13 folds a transposition into a product of matrices. With one row it makes a `linalg.vecmat`, which it leaves as it is, and the transposition is a "
    "dispatch of its own.",
    "`--fusion=tune` folds the transposition into the product (`fissile-fold-producers`).",
    effect=Effect.SLOW,
    shown=Shown(
        "fissile check in.mlir --target=llvm-cpu",
        """\
func.func @f(%x: tensor<1x1024xf32>, %w: tensor<512x1024xf32>) -> tensor<1x512xf32> {
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<512x1024xf32>) -> tensor<1x512xf32>
  return %r : tensor<1x512xf32>
}
""",
        """\
func.func @f(%x: tensor<1024x1xf32>, %w: tensor<512x1024xf32>) -> tensor<512x1xf32> {
  %r = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1xf32>) -> tensor<512x1xf32>
  return %r : tensor<512x1xf32>
}
""",
    ),
)
