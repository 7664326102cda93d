"""Programs with ops that IREE refuses, each with a twin that it takes."""

AND = """
func.func @main(%arg0: !torch.vtensor<[4],si64>, %arg1: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %l = torch.prim.ListConstruct  : () -> !torch.list<int>
  %int11 = torch.constant.int 11
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.new_ones %arg0, %l, %int11, %none, %none, %false : !torch.vtensor<[4],si64>, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[],i1>
  %1 = torch.aten.__and__.Tensor %0, %arg1 : !torch.vtensor<[],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %1 : !torch.vtensor<[4],i1>
}
"""

NO_SUCH = AND.replace(
    "torch.aten.__and__.Tensor %0, %arg1 : !torch.vtensor<[],i1>, !torch.vtensor<[4],i1>",
    'torch.operator "torch.aten.no_such"(%0, %arg1) : (!torch.vtensor<[],i1>, !torch.vtensor<[4],i1>)',
)
"""An operator that nothing lowers or rewrites."""

UNKNOWN = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

SCALAR = """
func.func @main(%a: tensor<4x{type}>) -> tensor<4x{type}> {{
  %e = tensor.empty() : tensor<4x{type}>
  %1 = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%a : tensor<4x{type}>) outs(%e : tensor<4x{type}>) {{
  ^bb0(%x: {type}, %y: {type}):
    %n = arith.negf %x : {type}
    %s = {op} %n : {type}
    linalg.yield %s : {type}
  }} -> tensor<4x{type}>
  return %1 : tensor<4x{type}>
}}
"""
REDUCE = SCALAR.replace("{op} %n : {type}", "gpu.subgroup_reduce add %n : ({type}) -> {type}").format(
    type="f32"
)
"""Lanes of a GPU: a processor has none."""
ERFC = SCALAR.format(op="math.erfc", type="f32")
"""IREE refuses it, and `fissile compile` repairs it."""

DEAD = REDUCE.replace("return %1", "return %a")
STAYS = AND.replace("return %1", "return %arg1")
"""An op without a use that IREE does not remove."""

MIXED = """
func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = math.absf %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @front_end(%arg0: !torch.vtensor<[4],i1>, %arg1: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %1 = torch.aten.__and__.Tensor %arg0, %arg1 : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %1 : !torch.vtensor<[4],i1>
}
func.func @no_code(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce add %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @element(%a: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  %e = tensor.empty() : tensor<4xf4E2M1FN>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf4E2M1FN>) outs(%e : tensor<4xf4E2M1FN>) {
  ^bb0(%x: f4E2M1FN, %y: f4E2M1FN):
    %s = math.sqrt %x : f4E2M1FN
    linalg.yield %s : f4E2M1FN
  } -> tensor<4xf4E2M1FN>
  return %1 : tensor<4xf4E2M1FN>
}
func.func @shape(%a: tensor<?xf32>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<?xf32>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
func.func @dead(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce mul %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a : tensor<4xf32>
}
func.func @must(%arg0: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %1 = torch.aten.hardswish %arg0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
"""
"""An op of every class, each in a function of its own: unknown, of a front end, without code, of a type and of a shape that are not taken, dead,
and one that a flag settles where --iree-torch-decompose-complex-ops=false is given."""

UNRANKED = """
func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {
  %0 = math.exp %a : tensor<*xf32>
  return %0 : tensor<*xf32>
}
"""

IN_CONTEXT = """
func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%i: f16, %o: f32):
    %w = arith.extf %i : f16 to f32
    linalg.yield %w : f32
  } -> tensor<64x64xf32>
  %y = math.absf %b : tensor<64x64xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = math.exp %r : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}
"""
"""Vulkan takes the extension and the product alone, and refuses them in one dispatch."""

LISTS = """
func.func @optional(%a: !torch.optional<vtensor<[4],f32>>) -> !torch.bool {
  %0 = torch.operator "onnx.OptionalHasElement"(%a) : (!torch.optional<vtensor<[4],f32>>) -> !torch.bool
  return %0 : !torch.bool
}
func.func @list(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %c = torch.constant.int 0
  %0 = torch.operator "torch.aten.no_such_list"(%a) : (!torch.vtensor<[4],f32>) -> !torch.list<vtensor<[4],f32>>
  %1 = torch.aten.__getitem__.t %0, %c : !torch.list<vtensor<[4],f32>>, !torch.int -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
"""
"""A type that no function takes, and an op that cannot be compiled alone because of one."""

UNRANKED_TORCH = """
func.func @main(%a: !torch.vtensor<*,f32>) -> !torch.vtensor<*,f32> {
  %0 = torch.aten.relu %a : !torch.vtensor<*,f32> -> !torch.vtensor<*,f32>
  return %0 : !torch.vtensor<*,f32>
}
"""
"""IREE's import crashes on it."""

OPEN_TYPE = """
func.func @main(%a: !torch.vtensor<[4],unk>) -> !torch.vtensor<[4],unk> {
  %0 = torch.aten.relu %a : !torch.vtensor<[4],unk> -> !torch.vtensor<[4],unk>
  return %0 : !torch.vtensor<[4],unk>
}
"""
