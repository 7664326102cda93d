// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=f16})' | FileCheck %s

// The comparison runs on f32; its answer stays a boolean.
// CHECK-LABEL: func.func @sort
// CHECK:       iree_linalg_ext.sort dimension(1) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:       ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK:         %[[C:.*]] = arith.cmpf olt, %[[X]], %[[Y]] : f32
// CHECK:         iree_linalg_ext.yield %[[C]] : i1
func.func @sort(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<4x8xf16>) {
  ^bb0(%x: f16, %y: f16):
    %c = arith.cmpf olt, %x, %y : f16
    iree_linalg_ext.yield %c : i1
  } -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// The twin in f32 is not touched.
// CHECK-LABEL: func.func @wide
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>
// CHECK-NEXT:  iree_linalg_ext.sort dimension(1) outs(%[[A]] : tensor<4x8xf32>)
func.func @wide(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf olt, %x, %y : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
