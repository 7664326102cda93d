// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-before-loops)' | FileCheck %s

// CHECK-LABEL: func.func @swap
// CHECK-SAME:    (%[[X:.*]]: tensor<?xf32>, %[[K:.*]]: tensor<?xf32>, %[[N:.*]]: index)
// CHECK:         %[[ZERO:.*]] = arith.constant dense
// CHECK:         %[[COPY:.*]] = flow.tensor.clone %[[X]] : tensor<?xf32>{%[[SIZE:.*]]}
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]] : tensor<?xf32>
// CHECK:         %[[START:.*]] = flow.tensor.tie_shape %[[HELD]] : tensor<?xf32>{%[[SIZE]]}
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START]], %{{.*}} = %[[ZERO]])
func.func @swap(%x: tensor<?xf32>, %k: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %zero) -> (tensor<?xf32>, tensor<4xf32>) {
    scf.yield %a, %b : tensor<?xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<4xf32>
}

// An iteration yields a tensor from outside.
// CHECK-LABEL: func.func @captured
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[N:.*]]: index)
// CHECK:         %[[COPY:.*]] = flow.tensor.clone
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]]
// CHECK:         scf.for
// CHECK:           scf.yield %[[HELD]] : tensor<4xf32>
func.func @captured(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Constants, and what the loop makes itself.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     flow.tensor.clone
func.func @silent(%n: index) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %view = tensor.expand_shape %zero [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %view) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %c = math.cos %a : tensor<4xf32>
    scf.yield %c, %b : tensor<4xf32>, tensor<2x2xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x2xf32>
}
