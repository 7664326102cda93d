// RUN: fissile-opt %s --fissile-lower-boundaries --verify-contracts | FileCheck %s

// Dynamic dimensions become operands of the barrier; a static tensor needs none.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    (%[[T:.*]]: tensor<?x4x?xf32>)
func.func @dynamic(%t: tensor<?x4x?xf32>) -> tensor<?x4x?xf32> {
  // CHECK: %[[D0:.*]] = tensor.dim %[[T]], %c0
  // CHECK: %[[D2:.*]] = tensor.dim %[[T]], %c2
  // CHECK: %[[B:.*]] = iree_tensor_ext.compute_barrier.start %[[T]] : tensor<?x4x?xf32>{%[[D0]], %[[D2]]} -> tensor<?x4x?xf32>
  // CHECK: return %[[B]]
  %0 = "fissile.boundary"(%t) : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// CHECK-LABEL: func.func @static
func.func @static(%t: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-NEXT: iree_tensor_ext.compute_barrier.start %{{.*}} : tensor<4xi8> -> tensor<4xi8>
  // CHECK-NEXT: return
  %0 = "fissile.boundary"(%t) : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// Without a boundary nothing changes.
// CHECK-LABEL: func.func @silent
func.func @silent(%t: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: return
  return %t : tensor<?xf32>
}
