// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-slices)' | FileCheck %s

// CHECK-LABEL: func.func @moved
// CHECK:         %[[S:.*]] = tensor.extract_slice
// CHECK:         %[[H:.*]] = util.optimization_barrier %[[S]] : tensor<7x16xi32>
// CHECK:         tensor.insert_slice %[[H]] into
func.func @moved(%d: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %s = tensor.extract_slice %d[0, 0] [7, 16] [1, 1] : tensor<8x16xi32> to tensor<7x16xi32>
  %t = tensor.insert_slice %s into %d[1, 0] [7, 16] [1, 1] : tensor<7x16xi32> into tensor<8x16xi32>
  return %t : tensor<8x16xi32>
}

// The tensor is reshaped in between, and the size of the part is known at run time only.
// CHECK-LABEL: func.func @reshaped
// CHECK:         %[[S:.*]] = tensor.extract_slice
// CHECK:         %[[N:.*]] = tensor.dim %[[S]], %c0
// CHECK:         %[[H:.*]] = util.optimization_barrier %[[S]] : tensor<?xi32>
// CHECK:         %[[T:.*]] = flow.tensor.tie_shape %[[H]] : tensor<?xi32>{%[[N]]}
// CHECK:         tensor.insert_slice %[[T]] into
func.func @reshaped(%d: tensor<8x16xi32>, %n: index) -> tensor<128xi32> {
  %e = tensor.collapse_shape %d [[0, 1]] : tensor<8x16xi32> into tensor<128xi32>
  %s = tensor.extract_slice %e[0] [%n] [1] : tensor<128xi32> to tensor<?xi32>
  %f = tensor.collapse_shape %d [[0, 1]] : tensor<8x16xi32> into tensor<128xi32>
  %t = tensor.insert_slice %s into %f[1] [%n] [1] : tensor<?xi32> into tensor<128xi32>
  return %t : tensor<128xi32>
}

// IREE's own ops.
// CHECK-LABEL: func.func @flow
// CHECK:         %[[S:.*]] = flow.tensor.slice
// CHECK:         %[[H:.*]] = util.optimization_barrier %[[S]] : tensor<2xi32>
// CHECK:         flow.tensor.update %[[H]],
func.func @flow(%d: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = flow.tensor.slice %d[%n for %c2] : tensor<4xi32> -> tensor<2xi32>
  %t = flow.tensor.update %s, %d[%c1] : tensor<2xi32> -> %d as tensor<4xi32>
  return %t : tensor<4xi32>
}

// Another tensor.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%d: tensor<8x16xi32>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %s = tensor.extract_slice %d[0, 0] [7, 16] [1, 1] : tensor<8x16xi32> to tensor<7x16xi32>
  %t = tensor.insert_slice %s into %e[1, 0] [7, 16] [1, 1] : tensor<7x16xi32> into tensor<8x16xi32>
  return %t : tensor<8x16xi32>
}
