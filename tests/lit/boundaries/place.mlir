// RUN: fissile-opt %s --fissile-place-boundaries | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-place-boundaries,fissile-lower-boundaries,fissile-check-leftovers)' | FileCheck %s --check-prefix=LOWERED

#id = affine_map<(d0, d1) -> (d0, d1)>

// A dequantise that a matmul reads is cut off.
// CHECK-LABEL: func.func @dequantised
// LOWERED-LABEL: func.func @dequantised
func.func @dequantised(%a: tensor<4x8xi8>, %b: tensor<8x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK: %[[X:.*]] = linalg.generic
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xi8>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: i8, %o: f32):
    %q = arith.sitofp %i : i8 to f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  // CHECK: %[[B:.*]] = "fissile.boundary"(%[[X]])
  // CHECK: linalg.matmul ins(%[[B]],
  // LOWERED: iree_tensor_ext.compute_barrier.start
  %r = linalg.matmul ins(%x, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// No producer widens: nothing is cut.
// CHECK-LABEL: func.func @silent
// CHECK-NOT: fissile.boundary
// LOWERED-LABEL: func.func @silent
// LOWERED-NOT: compute_barrier
func.func @silent(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
