// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-audit-legality{target=llvm-cpu})' 2>&1 | FileCheck %s
// RUN: sed 's/gpu.subgroup_reduce add %x : (f32) -> f32/math.erf %x : f32/; /foo.bar/d' %s | fissile-opt --pass-pipeline='builtin.module(fissile-audit-legality{target=llvm-cpu strict=true})' 2>&1 | FileCheck %s --check-prefix=SILENT

// SILENT-NOT: error
// SILENT-NOT: warning
// SILENT: func.func @main
// CHECK: error[FIS406] foo.bar is unknown: IREE has no op 'foo.bar'
// CHECK: audit.mlir:[[# @LINE + 5]]:3
// CHECK: error[FIS409] gpu.subgroup_reduce (in linalg.generic) has no code for llvm-cpu
// CHECK: audit.mlir:[[# @LINE + 8]]:10
// CHECK: note: class: not supported on this target
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  "foo.bar"(%a) : (tensor<4xf32>) -> ()
  %e = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = gpu.subgroup_reduce add %x : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
