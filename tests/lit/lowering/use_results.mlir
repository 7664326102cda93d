// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-use-results)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-use-results{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The imaginary part that nothing reads has a use; a stage with two uses is left alone.
// CHECK-LABEL: func.func @real
// CHECK:         %[[STAGE:.*]]:2 = iree_linalg_ext.fft
// CHECK-NEXT:    util.optimization_barrier %[[STAGE]]#1
// CHECK:         return %[[STAGE]]#0
func.func @real(%r: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %stage = arith.constant 1 : index
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%r, %i : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %0#0 : tensor<4xf32>
}

// WRONG: error[FIS114] iree_linalg_ext.fft has no result that must be kept: all its results are used
// CHECK-LABEL: func.func @both
// CHECK-NOT:     util.optimization_barrier
func.func @both(%r: tensor<4xf32>, %i: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %stage = arith.constant 1 : index
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%r, %i : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
