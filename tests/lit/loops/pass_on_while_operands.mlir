// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pass-on-while-operands)' | FileCheck %s

// CHECK-LABEL: func.func @tested
// CHECK:         %[[R:.*]]:2 = scf.while (%[[A:.*]] = %{{.*}}, %[[E:.*]] = %{{.*}}) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
// CHECK:           scf.condition(%{{.*}}) %[[A]], %[[E]] : tensor<4xi32>, tensor<4xi32>
// CHECK:         ^bb0(%[[B:.*]]: tensor<4xi32>, %[[F:.*]]: tensor<4xi32>):
// CHECK:           util.optimization_barrier %[[F]] : tensor<4xi32>
// CHECK:           %[[C:.*]] = arith.muli %[[B]], %[[B]]
// CHECK:           scf.yield %[[C]], %{{.*}}
// CHECK:         return %[[R]]#0
func.func @tested(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 50 : i32
  %r = scf.while (%a = %x, %e = %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32> {
    %first = tensor.extract %e[%c0] : tensor<4xi32>
    %less = arith.cmpi slt, %first, %limit : i32
    scf.condition(%less) %a : tensor<4xi32>
  } do {
  ^bb0(%a: tensor<4xi32>):
    %b = arith.muli %a, %a : tensor<4xi32>
    %f = arith.addi %b, %a : tensor<4xi32>
    scf.yield %b, %f : tensor<4xi32>, tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// A tensor and a number are passed on that the loop does not start with.
// CHECK-LABEL: func.func @overfull
// CHECK:         %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK:         %[[N:.*]] = arith.constant 0 : i32
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %[[A:.*]] = %[[Z]], %[[B:.*]] = %[[N]]) : (tensor<4xf32>, tensor<f32>, i32) -> (tensor<4xf32>, tensor<f32>, i32)
// CHECK:           util.optimization_barrier %[[A]] : tensor<f32>
// CHECK:           util.optimization_barrier %[[B]] : i32
// CHECK:         ^bb0(%[[C:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<f32>, %[[E:.*]]: i32):
// CHECK:           scf.yield %[[C]], %[[D]], %[[E]]
func.func @overfull(%x: tensor<4xf32>, %s: tensor<f32>, %k: i32, %p: i1) -> (tensor<f32>, tensor<4xf32>, i32) {
  %r:3 = scf.while (%a = %x) : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, i32) {
    scf.condition(%p) %s, %a, %k : tensor<f32>, tensor<4xf32>, i32
  } do {
  ^bb0(%t: tensor<f32>, %a: tensor<4xf32>, %n: i32):
    scf.yield %a : tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<4xf32>, i32
}

// All is passed on; no tensor.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%x: tensor<4xi32>, %n: index, %p: i1) -> (tensor<4xi32>, index) {
  %r:2 = scf.while (%a = %x, %i = %n) : (tensor<4xi32>, index) -> (tensor<4xi32>, index) {
    scf.condition(%p) %a, %i : tensor<4xi32>, index
  } do {
  ^bb0(%a: tensor<4xi32>, %i: index):
    scf.yield %a, %i : tensor<4xi32>, index
  }
  %q = scf.while (%i = %n, %j = %r#1) : (index, index) -> index {
    scf.condition(%p) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %i, %i : index, index
  }
  return %r#0, %q : tensor<4xi32>, index
}
