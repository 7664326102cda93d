// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-finish-before-loops)' | FileCheck %s

// CHECK-LABEL: func.func @used_after
// CHECK:         %[[Y:.*]] = math.exp
// CHECK:         %[[COPY:.*]] = flow.tensor.clone %[[Y]] : tensor<?xf32>
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]] : tensor<?xf32>
// CHECK:         %[[START:.*]] = flow.tensor.tie_shape %[[HELD]] : tensor<?xf32>{%{{.*}}}
// CHECK:         %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK:         arith.addf %[[Y]], %[[R]]
func.func @used_after(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = math.exp %x : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> tensor<?xf32> {
    %b = math.cos %a : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  %s = arith.addf %y, %r : tensor<?xf32>
  return %s : tensor<?xf32>
}

// The loop has another view of it; a loop with a condition, inside of another.
// CHECK-LABEL: func.func @view
// CHECK:         scf.for
// CHECK:           %[[V:.*]] = tensor.expand_shape
// CHECK:           %[[COPY:.*]] = flow.tensor.clone %[[V]] : tensor<2x3xf32>
// CHECK:           %[[START:.*]] = util.optimization_barrier %[[COPY]] : tensor<2x3xf32>
// CHECK:           scf.while (%{{.*}} = %[[START]])
func.func @view(%x: tensor<6xf32>, %n: index, %p: i1) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<6xf32> {
    %y = math.exp %a : tensor<6xf32>
    %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
    %w = scf.while (%b = %v) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
      scf.condition(%p) %b : tensor<2x3xf32>
    } do {
    ^bb0(%b: tensor<2x3xf32>):
      %c = math.cos %b : tensor<2x3xf32>
      scf.yield %c : tensor<2x3xf32>
    }
    %f = tensor.collapse_shape %w [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
    %s = arith.addf %y, %f : tensor<6xf32>
    scf.yield %s : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}

// No other op uses what the loop starts with; it starts with an argument; with a constant; with what another loop made.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%x: tensor<6xf32>, %n: index) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<1.0> : tensor<6xf32>
  %y = math.exp %x : tensor<6xf32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %b = %x, %c = %k) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
    %d = arith.addf %a, %b : tensor<6xf32>
    scf.yield %d, %c, %b : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r#0) -> tensor<6xf32> {
    %d = math.cos %a : tensor<6xf32>
    scf.yield %d : tensor<6xf32>
  }
  %s = arith.addf %q, %x : tensor<6xf32>
  %t = arith.addf %s, %k : tensor<6xf32>
  return %s, %t, %r#0 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
