// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-configuration{ops=0})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-configuration)' | FileCheck %s --check-prefix=ALL

#info = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{thread = [8]}>,
    translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>>

// CHECK-LABEL: func.func @both
// CHECK:       iree_linalg_ext.scan dimension(0)
// CHECK:       linalg.fill {compilation_info
// ALL-LABEL:   func.func @both
// ALL-NOT:     compilation_info
func.func @both(%x: tensor<64xf32>, %a: tensor<f32>, %e: tensor<64xf32>, %z: f32) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = iree_linalg_ext.scan {compilation_info = #info} dimension(0) inclusive(true)
      ins(%x : tensor<64xf32>) outs(%e, %a : tensor<64xf32>, tensor<f32>) {
  ^bb0(%lhs: f32, %rhs: f32):
    %sum = arith.addf %lhs, %rhs : f32
    iree_linalg_ext.yield %sum : f32
  } -> tensor<64xf32>, tensor<f32>
  %f = linalg.fill {compilation_info = #info} ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r#0, %f : tensor<64xf32>, tensor<64xf32>
}
