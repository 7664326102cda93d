// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hide-sizes)' | FileCheck %s

// The constant size that a loop makes larger is no constant any more.
// CHECK-LABEL: func.func @grows
// CHECK:         %[[SIZE:.*]] = util.optimization_barrier %c2 : index
// CHECK:         tensor.empty(%[[SIZE]])
func.func @grows(%n: index, %x: tensor<2xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%c2) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f) -> tensor<?xf32> {
    %d = tensor.dim %t, %c0 : tensor<?xf32>
    %m = arith.addi %d, %c1 : index
    %g = tensor.empty(%m) : tensor<?xf32>
    %h = tensor.insert_slice %t into %g[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %h : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A loop that keeps the size of its tensor stays as it is.
// CHECK-LABEL: func.func @stays
// CHECK-NOT:     util.optimization_barrier
func.func @stays(%n: index, %f: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f) -> tensor<?xf32> {
    %h = linalg.copy ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %h : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
