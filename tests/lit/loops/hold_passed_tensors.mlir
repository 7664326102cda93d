// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-passed-tensors)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-passed-tensors{ops=1 inside=true})' | FileCheck %s --check-prefix=INSIDE
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-passed-tensors{ops=3})' 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: fissile-opt: error: fissile-hold-passed-tensors: there is no passing op 3
// WRONG: the module has 3 passing ops; indices count from 0

// CHECK-LABEL: func.func @begins
// CHECK:         %[[B:.*]] = arith.mulf
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[B]] : tensor<?x?xf32>
// CHECK:         %[[FIRST:.*]] = flow.tensor.tie_shape %[[HELD]] : tensor<?x?xf32>{%{{.*}}, %{{.*}}}
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK-NOT:     util.optimization_barrier
// CHECK:         return
// INSIDE-LABEL: func.func @begins
// INSIDE-NOT:     util.optimization_barrier
// INSIDE:         return
func.func @begins(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %b = arith.mulf %x, %x : tensor<?x?xf32>
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%v = %b) -> tensor<?x?xf32> {
    %w = arith.addf %v, %x : tensor<?x?xf32>
    scf.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @while
// CHECK:         util.optimization_barrier
// CHECK:         scf.while
// CHECK-NOT:     util.optimization_barrier
// CHECK:         return
// INSIDE-LABEL: func.func @while
// INSIDE:         scf.while
// INSIDE-NEXT:      scf.condition
// INSIDE:           util.optimization_barrier
// INSIDE:           scf.yield
func.func @while(%x: tensor<?x4xf32>, %p: i1) -> tensor<?x4xf32> {
  %r = scf.while (%v = %x) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    scf.condition(%p) %v : tensor<?x4xf32>
  } do {
  ^bb0(%v: tensor<?x4xf32>):
    %w = arith.addf %v, %v : tensor<?x4xf32>
    scf.yield %w : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// A branch chooses from what its blocks end with.
// CHECK-LABEL: func.func @branch
// CHECK:         scf.if
// CHECK:           util.optimization_barrier
// CHECK:         } else {
// CHECK:           util.optimization_barrier
func.func @branch(%x: tensor<?xf32>, %p: i1) -> tensor<?xf32> {
  %r = scf.if %p -> tensor<?xf32> {
    %a = math.exp %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// No tensor is passed on.
// CHECK-LABEL: func.func @numbers
// CHECK-NOT:     util.optimization_barrier
// CHECK:         return
func.func @numbers(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%v = %c1) -> index {
    %w = arith.addi %v, %i : index
    scf.yield %w : index
  }
  return %r : index
}
