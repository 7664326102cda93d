// A configuration is put on the chosen op and on no other.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-set-lowering{ops=1 info="#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{workgroup = [4, 4, 0]}>, translation_info = <pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [64, 1, 1] subgroup_size = 64>>"})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s --check-prefix=SILENT

// CHECK: linalg.fill ins
// CHECK: linalg.matmul {compilation_info = {{.*}}} ins
// SILENT-NOT: compilation_info

func.func @f(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>) -> tensor<16x8xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<16x8xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<16x8xf16>) -> tensor<16x8xf16>
  %r = linalg.matmul ins(%a, %b : tensor<16x32xf16>, tensor<32x8xf16>) outs(%f : tensor<16x8xf16>) -> tensor<16x8xf16>
  return %r : tensor<16x8xf16>
}
