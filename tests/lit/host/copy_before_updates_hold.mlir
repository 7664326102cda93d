// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-before-updates{hold=true})' | FileCheck %s

// The update works on a copy that a dispatch makes, behind a barrier.
// CHECK-LABEL: func.func @returned
// CHECK-SAME:    (%[[X:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<2xi32>)
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xi32>)
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]] : tensor<4xi32>
// CHECK:         %[[U:.*]] = tensor.insert_slice %[[Y]] into %[[HELD]]
// CHECK:         return %[[X]], %[[U]]
func.func @returned(%x: tensor<4xi32>, %y: tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %u = tensor.insert_slice %y into %x[0] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %x, %u : tensor<4xi32>, tensor<4xi32>
}

// Nothing else uses the tensor.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%x: tensor<4xi32>, %y: tensor<2xi32>) -> tensor<4xi32> {
  %u = tensor.insert_slice %y into %x[0] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %u : tensor<4xi32>
}
