// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-flatten-inserts)' | FileCheck %s

// One element at row * 8 + column.
// CHECK-LABEL: func.func @insert
// CHECK-SAME:    (%[[X:.*]]: tensor<4x8xf32>, %[[V:.*]]: f32, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK:         %[[ROW:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK:         %[[AT:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<32xf32>
// CHECK:         tensor.insert %[[V]] into %[[FLAT]][%[[AT]]] : tensor<32xf32>
// CHECK:         tensor.expand_shape {{.*}} into tensor<4x8xf32>
func.func @insert(%x: tensor<4x8xf32>, %v: f32, %i: index, %j: index) -> tensor<4x8xf32> {
  %r = tensor.insert %v into %x[%i, %j] : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// IREE writes one element into a tensor of one dimension.
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    tensor.insert
// CHECK-NEXT:    return
func.func @one(%x: tensor<8xf32>, %v: f32, %i: index) -> tensor<8xf32> {
  %r = tensor.insert %v into %x[%i] : tensor<8xf32>
  return %r : tensor<8xf32>
}

// IREE's own op, which lists the sizes.
// CHECK-LABEL: func.func @store
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape {{.*}} into tensor<?xf32>
// CHECK:         tensor.insert %{{.*}} into %[[FLAT]][%{{.*}}] : tensor<?xf32>
// CHECK:         tensor.expand_shape {{.*}} into tensor<4x?xf32>
// CHECK-NOT:     flow.tensor.store
func.func @store(%x: tensor<4x?xf32>, %n: index, %v: f32, %i: index, %j: index) -> tensor<4x?xf32> {
  %r = flow.tensor.store %v, %x[%i, %j] : tensor<4x?xf32>{%n}
  return %r : tensor<4x?xf32>
}
