"""Findings of the audit: ops that the rest of the pipeline cannot take. FIS406 to FIS419."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

AUDIT = "fissile audit in.mlir --target=llvm-cpu"

define(
    "FIS406",
    "unknown-op",
    "IREE has no definition of an op",
    "The program has an op of a dialect that IREE does not contain, or an op that the dialect does not define.",
    "The program was written for another compiler or by a newer exporter, or the name is misspelled.",
    "Rewrite the op into ops that IREE knows before you compile, or register a pass that lowers it.",
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
    "IREE's import does not lower a front-end op",
    "fissile compiled the op alone, with its types and constants, and IREE's import rejects it. IREE's own message "
    "may name another op if the import continues for a while: the literal before `aten.__and__`, for example.",
    "IREE lowers most but not all ops of PyTorch, ONNX, StableHLO and TOSA, or --iree-input-type names another "
    "front end.",
    "Pass the --iree-input-type that the finding names, or have the exporter decompose the op (torch.export with a "
    "decomposition table).",
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
    "IREE accepts an op only after it is rewritten",
    "IREE rejects the op when it is compiled alone, in phases that are the same for every target, before it generates code. Where a flag or a pass makes IREE accept it, the report names it.",
    "The pipeline lacks that step.",
    "Pass the flag, or run the pass before IREE's phases (--iree-preprocessing-pass-pipeline). Where neither is named, replace the op in the model.",
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
    "the target has no code for an op",
    "fissile compiled the op alone for the target, and code generation rejects it.",
    "The target's code generator has no lowering for the op.",
    "Replace the op, or compile for a target that supports it.",
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
    "the target lacks an element type",
    "IREE rejects the op when it is compiled alone, and accepts it with another element type. Or an argument or a "
    "result of a function has a type that IREE's functions cannot pass.",
    "The target, or the lowering of this op, has no arithmetic or storage for the type; or IREE's ABI has no name "
    "for it.",
    "Use the type that the finding names, or the flag that converts the program.",
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
    "a shape is dynamic but must be static",
    "IREE rejects the op with its dynamic sizes when it is compiled alone, and accepts it with static sizes. Or a "
    "value has no rank.",
    "The lowering of this op needs static sizes, and the program does not state them.",
    "State the sizes where the value is created: export with static shapes, or cast the argument to a static type.",
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
    "an unsupported op compiles only because its result is unused",
    "IREE rejects the op if its result is used. Here the result is unused, dead code elimination removes the op, "
    "and the program compiles.",
    "The program computes a value that nothing reads.",
    "Remove the op. With --strict this is an error, because a later use would make the program fail.",
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
    "an IREE pass drops an op that has a side effect",
    "IREE compiles the program, and the IR after the named pass no longer contains the op, although the pass did "
    "not prove it redundant. Assertions in the body of a linalg op disappear this way, because a dispatch cannot "
    "report them.",
    "The op is in a place where IREE preserves no side effects, or a flag that strips assertions removes it.",
    "Place the assertion in the function, before the op. With --strict this is an error.",
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
    "IREE rejects the program but accepts each op alone",
    "No op fails alone. The finding names the smallest part of the program that still fails, with the phase and the "
    "pass.",
    "The failure comes from how IREE fuses or schedules the ops together.",
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
define(
    "FIS416",
    "empty-product",
    "IREE crashes on a product over a dimension without elements",
    "A matrix product sums over a dimension of size 0. Its result is what it is added to, mostly zeros; IREE ends in SIGFPE on every target. Such sizes come from "
    "batches, masks or layers that are empty in one configuration of a model.",
    "IREE 3.13 divides by the sizes of a product as it chooses a layout, in global optimisation.",
    "fissile takes what the product is added to (`fissile-drop-empty-products`).",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile compile in.mlir --target=llvm-cpu -o out.vmfb",
        """\
func.func @f(%a: tensor<4x0xf32>, %b: tensor<0x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""",
        """\
func.func @f(%a: tensor<4x1xf32>, %b: tensor<1x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x1xf32>, tensor<1x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""",
    ),
)
define(
    "FIS415",
    "constant-data",
    "the module does not have the elements of a constant",
    "A constant names a resource of the module (`dense_resource<name>`) that has no data, or fewer bytes than the type of the constant needs.",
    "The program was printed with its large constants left out (`dense_resource<__elided__>`), or was cut or edited by hand. IREE rejects a "
    "constant without data when all code is generated, with a message that has no place; of one with too few bytes it copies those that it needs, "
    "past the end of the resource.",
    "Compile the program as it was exported. For a test, elided constants can be zeros: the finding names the option.",
    effect=Effect.REFUSED,
    shown=Shown(
        AUDIT,
        """\
func.func @main() -> tensor<4xf32> {
  %0 = arith.constant dense_resource<weights> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
{-#
  dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } }
#-}
""",
        """\
func.func @main() -> tensor<4xf32> {
  %0 = arith.constant dense_resource<weights> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
{-#
  dialect_resources: { builtin: { weights: "0x040000000000803F000000400000404000008040" } }
#-}
""",
    ),
)
