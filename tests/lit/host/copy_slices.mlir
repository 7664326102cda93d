// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-slices)' | FileCheck %s

// CHECK-LABEL: func.func @slice
// CHECK-SAME:    (%[[X:.*]]: tensor<4x?xf32>, %[[N:.*]]: index, %[[I:.*]]: index, %[[W:.*]]: index)
// CHECK:         %[[NONE:.*]] = arith.cmpi eq, %[[W]], %{{.*}} : index
// CHECK:         %[[J:.*]] = arith.select %[[NONE]], %{{.*}}, %[[I]] : index
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[X]] : tensor<4x?xf32>
// CHECK:         %[[STORED:.*]] = flow.tensor.tie_shape %[[HELD]] : tensor<4x?xf32>{%[[N]]}
// CHECK:         tensor.extract_slice %[[STORED]][%[[I]], %[[J]]] [2, %[[W]]] [1, 1] : tensor<4x?xf32> to tensor<2x?xf32>
func.func @slice(%x: tensor<4x?xf32>, %n: index, %i: index, %w: index) -> tensor<2x?xf32> {
  %c2 = arith.constant 2 : index
  %r = flow.tensor.slice %x[%i, %i for %c2, %w] : tensor<4x?xf32>{%n} -> tensor<2x?xf32>{%w}
  return %r : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @update
// CHECK-SAME:    (%[[X:.*]]: tensor<4x8xf32>, %[[U:.*]]: tensor<2x3xf32>, %[[I:.*]]: index)
// CHECK:         %[[STORED:.*]] = util.optimization_barrier %[[U]] : tensor<2x3xf32>
// CHECK:         tensor.insert_slice %[[STORED]] into %[[X]][%[[I]], %[[I]]] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x8xf32>
func.func @update(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: index) -> tensor<4x8xf32> {
  %r = flow.tensor.update %u, %x[%i, %i] : tensor<2x3xf32> -> %x as tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Whole rows, and a part of one row: one range of elements.
// CHECK-LABEL: func.func @rows
// CHECK:         flow.tensor.slice
// CHECK:         flow.tensor.update
func.func @rows(%x: tensor<4x?xf32>, %n: index, %y: tensor<4x8xf32>, %u: tensor<1x3xf32>, %i: index) -> (tensor<2x?xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = flow.tensor.slice %x[%i, %c0 for %c2, %n] : tensor<4x?xf32>{%n} -> tensor<2x?xf32>{%n}
  %s = flow.tensor.update %u, %y[%i, %i] : tensor<1x3xf32> -> %y as tensor<4x8xf32>
  return %r, %s : tensor<2x?xf32>, tensor<4x8xf32>
}
