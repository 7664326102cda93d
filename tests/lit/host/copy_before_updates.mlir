// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-before-updates)' | FileCheck %s

// A tensor that is sorted in place, behind a reshape, and read by another op.
// CHECK-LABEL: func.func @read
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>,
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[X]]
// CHECK:         iree_linalg_ext.sort
// CHECK:         util.optimization_barrier %[[X]] : tensor<8xf32>
// CHECK-NEXT:    util.optimization_barrier %[[E]] : tensor<2x4xf32>
// CHECK-NEXT:    return
func.func @read(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %e = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %s = arith.addf %x, %y : tensor<8xf32>
  %r = iree_linalg_ext.sort dimension(1) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %k = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %k : i1
  } -> tensor<2x4xf32>
  return %s, %r : tensor<8xf32>, tensor<2x4xf32>
}

// In a loop: at the end of its body.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK:           tensor.insert_slice
// CHECK:           util.optimization_barrier %{{.*}} : tensor<8xf32>
// CHECK-NEXT:      scf.yield
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %p = tensor.extract_slice %a[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %q = tensor.insert_slice %p into %a[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A destination that nothing else uses, and one of which no element is read.
// CHECK-LABEL: func.func @alone
// CHECK-NOT:     util.optimization_barrier
func.func @alone(%x: tensor<8xf32>, %p: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r = tensor.insert_slice %p into %x[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %s = tensor.insert_slice %p into %e[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %t = tensor.insert_slice %p into %e[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %u = tensor.insert_slice %p into %t[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %s, %u : tensor<8xf32>, tensor<8xf32>
}
