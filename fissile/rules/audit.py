"""Findings of the audit: ops that the rest of the pipeline cannot take. FIS406 to FIS419."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

AUDIT = "fissile audit in.mlir --target=llvm-cpu"

define(
    "FIS406",
    "unknown-op",
    "an op that IREE has no definition of",
    "The program has an op whose dialect IREE does not contain, or one that the dialect does not have.",
    "The program was written for another compiler, by a newer exporter, or the name is misspelled.",
    "Rewrite it into ops that IREE knows before the compile, or register the pass that lowers it.",
    effect=Effect.REFUSED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mine.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "math.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS407",
    "front-end-op",
    "an op of a front end that IREE's import does not lower",
    "The op was compiled alone, with its types and constants, and IREE's import refuses it. IREE's own message names another op "
    "where the import goes on for a while: the literal in front of `aten.__and__`, for example.",
    "IREE lowers most ops of PyTorch, ONNX, StableHLO and TOSA, not all; or --iree-input-type names another front end.",
    "Give the --iree-input-type that is named, or have the exporter decompose the op (torch.export with a decomposition table).",
    effect=Effect.REFUSED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.__and__.Tensor %a, %b
      : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
""",
        """\
func.func @main(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.bitwise_and.Tensor %a, %b
      : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
""",
    ),
)
define(
    "FIS408",
    "must-be-handled",
    "an op that IREE takes only after a pass, or with a flag",
    "The op was compiled alone and is refused; with the flag or behind the pass that is named, IREE takes it.",
    "The pipeline lacks a step for it.",
    "Give the flag, or run the pass before IREE's phases (--iree-preprocessing-pass-pipeline).",
    effect=Effect.REFUSED,
    shown=Shown(
        f"{AUDIT} --iree-flags=--iree-torch-decompose-complex-ops=false",
        """\
func.func @main(%a: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %0 = torch.aten.silu %a : !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}
""",
        repaired_command=AUDIT,
    ),
)
define(
    "FIS409",
    "not-on-target",
    "an op that has no code on this target",
    "The op was compiled alone for the target, and code generation refuses it.",
    "The target's code generator has no lowering for it.",
    "Replace the op, or compile for a target that takes it.",
    effect=Effect.REFUSED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce add %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = math.erf %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS410",
    "element-type",
    "an element type that the target lacks",
    "The op was compiled alone and is refused; with another element type in its place, IREE takes it. Or an argument or a result of a "
    "function has a type that IREE's functions cannot pass.",
    "The target, or the lowering of this op, has no arithmetic or storage for the type; or IREE's ABI has no name for it.",
    "Use the type that is named, or the flag that converts the program.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile audit in.mlir --target=sm_80",
        """\
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = math.exp %a : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
""",
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS411",
    "open-shape",
    "a shape is left open where it has to be known",
    "The op was compiled alone with its unknown sizes and is refused; with static sizes IREE takes it. Or a value has no rank.",
    "The lowering of this op needs static sizes, and nothing in the program states them.",
    "Give the sizes where the value is made: export with static shapes, or cast the argument to a static type.",
    effect=Effect.REFUSED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {
  %0 = math.exp %a : tensor<*xf32>
  return %0 : tensor<*xf32>
}
""",
        """\
func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = math.exp %a : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
""",
    ),
)
define(
    "FIS412",
    "dead-unsupported-op",
    "an unsupported op that is removed only because nothing uses it",
    "IREE refuses the op where its result is used. Here none is, dead code elimination removes it, and the program compiles.",
    "The program computes something that nobody reads.",
    "Remove the op. With --strict this is an error: a later use would make the program fail.",
    effect=Effect.UNPROVED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce add %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a : tensor<4xf32>
}
""",
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = math.erf %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS413",
    "dropped-effect",
    "a pass of IREE's drops an op with an effect",
    "IREE compiles the program and prints it after each pass. Behind the pass that is named, nothing has the op's text any more, although "
    "the pass proves nothing. An assertion in the body of a linalg op goes so, since a dispatch has nobody to report to.",
    "The op stands where IREE keeps no effects, or a flag that strips assertions removes it.",
    "Assert in the function, in front of the op. With --strict this is an error.",
    effect=Effect.UNPROVED,
    shown=Shown(
        AUDIT,
        """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %x, %zero : f32
    cf.assert %positive, "positive numbers only"
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        """\
func.func @main(%a: tensor<4xf32>, %least: f32) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %least, %zero : f32
  cf.assert %positive, "positive numbers only"
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS414",
    "refused-in-context",
    "IREE refuses the program, and takes each of its ops alone",
    "No op fails by itself. What is named is the smallest part of the program that still fails, with the phase and the pass.",
    "The failure comes from how ops are fused or scheduled together.",
    "The reproducer is a standalone program; report it to IREE.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile-opt in.mlir --fissile-audit-legality='target=vulkan'",
        """\
func.func @main(%x: tensor<1x64x10x10xi8>, %w: tensor<16x64x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x10x10xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x10x10xi8>) outs(%e : tensor<1x64x10x10xf32>) {
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %s = arith.mulf %i, %scale : f32
    linalg.yield %s : f32
  } -> tensor<1x64x10x10xf32>
  %o = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%xd, %w : tensor<1x64x10x10xf32>, tensor<16x64x3x3xf32>)
      outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %r : tensor<1x16x8x8xf32>
}
""",
        """\
func.func @main(%x: tensor<1x64x10x10xi8>, %w: tensor<16x64x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x10x10xf32>
  %xd = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x10x10xi8>) outs(%e : tensor<1x64x10x10xf32>) {
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %s = arith.mulf %i, %scale : f32
    linalg.yield %s : f32
  } -> tensor<1x64x10x10xf32>
  %apart = iree_tensor_ext.compute_barrier.start %xd : tensor<1x64x10x10xf32> -> tensor<1x64x10x10xf32>
  %o = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%apart, %w : tensor<1x64x10x10xf32>, tensor<16x64x3x3xf32>)
      outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %r : tensor<1x16x8x8xf32>
}
""",
    ),
)
