// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-flatten-inserts)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-flatten-inserts{constants=true})' | FileCheck %s --check-prefix=CONSTANTS

// What a call decides is left to the time after global optimisation.
// CONSTANTS-LABEL: func.func @insert
// CONSTANTS-NOT:     tensor.collapse_shape
// CONSTANTS-LABEL: func.func @constant
// CONSTANTS:         tensor.collapse_shape
// CONSTANTS-LABEL: func.func @store
// CONSTANTS-NOT:     tensor.collapse_shape

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

func.func @constant(%i: index) -> tensor<2x2xf32> {
  %c1 = arith.constant 1 : index
  %v = arith.constant 7.0 : f32
  %k = arith.constant dense<[[3.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>
  %r = tensor.insert %v into %k[%c1, %c1] : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
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
