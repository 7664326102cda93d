// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-before-loops{constants=true})' | FileCheck %s

// A constant is copied by a dispatch: IREE leaves out a clone of it.
// CHECK-LABEL: func.func @constant
// CHECK:         %[[K:.*]] = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK:         %[[HIDDEN:.*]] = util.optimization_barrier %{{.*}} : i1
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<4xi32>)
// CHECK:           arith.select %[[HIDDEN]]
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]] : tensor<4xi32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[HELD]])
func.func @constant(%n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k) -> tensor<4xi32> {
    %b = arith.addi %a, %a : tensor<4xi32>
    scf.yield %b : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> index {
    %b = arith.addi %a, %i : index
    scf.yield %b : index
  }
  return %r : index
}
