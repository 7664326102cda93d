// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pass-sizes-on)' | FileCheck %s

// Two tensors that change places, of which the first has two sizes that are known at run time only.
// CHECK-LABEL: func.func @exchanged
// CHECK-SAME:    (%[[X:.*]]: tensor<?x?xi32>, %[[Y:.*]]: tensor<?x?xi32>,
// CHECK:         %[[X0:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[X1:.*]] = tensor.dim %[[X]], %c1
// CHECK:         %[[Y0:.*]] = tensor.dim %[[Y]], %c0
// CHECK:         %[[Y1:.*]] = tensor.dim %[[Y]], %c1
// CHECK:         %[[R:.*]]:6 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]], %[[A0:.*]] = %[[X0]], %[[A1:.*]] = %[[X1]], %[[B0:.*]] = %[[Y0]], %[[B1:.*]] = %[[Y1]]) -> (tensor<?x?xi32>, tensor<?x?xi32>, index, index, index, index) {
// CHECK:           %[[TA:.*]] = flow.tensor.tie_shape %[[A]] : tensor<?x?xi32>{%[[A0]], %[[A1]]}
// CHECK:           %[[TB:.*]] = flow.tensor.tie_shape %[[B]] : tensor<?x?xi32>{%[[B0]], %[[B1]]}
// CHECK:           scf.yield %[[TB]], %[[TA]], %[[B0]], %[[B1]], %[[A0]], %[[A1]] :
// CHECK:         %[[T:.*]] = flow.tensor.tie_shape %[[R]]#0 : tensor<?x?xi32>{%[[R]]#2, %[[R]]#3}
// CHECK:         flow.tensor.tie_shape %[[R]]#1 : tensor<?x?xi32>{%[[R]]#4, %[[R]]#5}
// CHECK:         return %[[T]]
func.func @exchanged(%x: tensor<?x?xi32>, %y: tensor<?x?xi32>, %n: index) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x?xi32>, tensor<?x?xi32>) {
    scf.yield %b, %a : tensor<?x?xi32>, tensor<?x?xi32>
  }
  return %r#0 : tensor<?x?xi32>
}

// A branch in a while loop, with a number among what is passed on.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[W:.*]]:4 = scf.while (%[[A:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[S:.*]] = %{{.*}}) : (tensor<?xi32>, i32, index) -> (i32, tensor<?xi32>, tensor<4xi32>, index) {
// CHECK:           %[[TA:.*]] = flow.tensor.tie_shape %[[A]] : tensor<?xi32>{%[[S]]}
// CHECK:           scf.condition(%{{.*}}) %{{.*}}, %[[TA]], %{{.*}}, %[[S]] : i32, tensor<?xi32>, tensor<4xi32>, index
// CHECK:         ^bb0(%{{.*}}: i32, %[[B:.*]]: tensor<?xi32>, %{{.*}}: tensor<4xi32>, %[[SB:.*]]: index):
// CHECK:           %[[TB:.*]] = flow.tensor.tie_shape %[[B]] : tensor<?xi32>{%[[SB]]}
// CHECK:           %[[F:.*]]:2 = scf.if %{{.*}} -> (tensor<?xi32>, index) {
// CHECK:             %[[D:.*]] = tensor.dim %[[TB]], %
// CHECK:             scf.yield %[[TB]], %[[D]] : tensor<?xi32>, index
// CHECK:             scf.yield %{{.*}}, %{{.*}} : tensor<?xi32>, index
// CHECK:           %[[TF:.*]] = flow.tensor.tie_shape %[[F]]#0 : tensor<?xi32>{%[[F]]#1}
// CHECK:           scf.yield %[[TF]], %{{.*}}, %[[F]]#1 : tensor<?xi32>, i32, index
// CHECK:         flow.tensor.tie_shape %[[W]]#1 : tensor<?xi32>{%[[W]]#3}
func.func @chosen(%x: tensor<?xi32>, %y: tensor<?xi32>, %z: tensor<4xi32>, %p: i1) -> tensor<?xi32> {
  %c0 = arith.constant 0 : i32
  %w:3 = scf.while (%a = %x, %i = %c0) : (tensor<?xi32>, i32) -> (i32, tensor<?xi32>, tensor<4xi32>) {
    scf.condition(%p) %i, %a, %z : i32, tensor<?xi32>, tensor<4xi32>
  } do {
  ^bb0(%i: i32, %a: tensor<?xi32>, %c: tensor<4xi32>):
    %f = scf.if %p -> tensor<?xi32> {
      scf.yield %a : tensor<?xi32>
    } else {
      scf.yield %y : tensor<?xi32>
    }
    scf.yield %f, %i : tensor<?xi32>, i32
  }
  return %w#1 : tensor<?xi32>
}

// CHECK-LABEL: func.func @barrier
// CHECK-SAME:    (%[[X:.*]]: tensor<?xi32>)
// CHECK:         %[[B:.*]] = util.optimization_barrier %[[X]]
// CHECK:         %[[S:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[T:.*]] = flow.tensor.tie_shape %[[B]] : tensor<?xi32>{%[[S]]}
// CHECK:         return %[[T]]
func.func @barrier(%x: tensor<?xi32>) -> tensor<?xi32> {
  %b = util.optimization_barrier %x : tensor<?xi32>
  return %b : tensor<?xi32>
}

// Every size is known.
// CHECK-LABEL: func.func @silent
// CHECK:         %[[R:.*]] = scf.for {{.*}} -> (tensor<4xi32>) {
// CHECK-NOT:     flow.tensor.tie_shape
// CHECK:         return %[[R]]
func.func @silent(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xi32>) {
    scf.yield %y : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}
