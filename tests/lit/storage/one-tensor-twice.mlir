// The same tensor is the updates and the indices, or the updates and the mask: the operand that is clamped or cleared is found by its name.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-assert-bounds)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @indices
// CHECK-SAME: (%[[I:[a-z0-9]+]]: tensor<4xi32>
// CHECK: %[[CLAMPED:[a-z0-9_]+]] = linalg.generic
// CHECK: iree_linalg_ext.scatter {{.*}} ins(%[[I]], %[[CLAMPED]] : tensor<4xi32>, tensor<4xi32>)
func.func @indices(%i: tensor<4xi32>, %x: tensor<?xi32>) -> tensor<?xi32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%i, %i : tensor<4xi32>, tensor<4xi32>) outs(%x : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// CHECK-LABEL: @mask
// CHECK-SAME: (%[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK: %[[CLEARED:[a-z0-9_]+]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4xi1>)
// CHECK: iree_linalg_ext.scatter {{.*}} ins(%[[M]], %{{[a-z0-9_]+}}, %[[CLEARED]] :
func.func @mask(%m: tensor<4xi1>, %i: tensor<4xi32>, %x: tensor<?xi1>) -> tensor<?xi1> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%m, %i, %m : tensor<4xi1>, tensor<4xi32>, tensor<4xi1>) outs(%x : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1):
    iree_linalg_ext.yield %a : i1
  } -> tensor<?xi1>
  return %r : tensor<?xi1>
}
