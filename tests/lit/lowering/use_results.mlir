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

// The sorted keys that nothing reads have a use as well.
// CHECK-LABEL: func.func @values
// CHECK:         %[[SORTED:.*]]:2 = iree_linalg_ext.sort
// CHECK:         util.optimization_barrier %[[SORTED]]#0
// CHECK:         return %[[SORTED]]#1
func.func @values(%keys: tensor<17xi32>, %x: tensor<17xi32>) -> tensor<17xi32> {
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%keys, %x : tensor<17xi32>, tensor<17xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %less = arith.cmpi ult, %a, %b : i32
    iree_linalg_ext.yield %less : i1
  } -> tensor<17xi32>, tensor<17xi32>
  return %0#1 : tensor<17xi32>
}
