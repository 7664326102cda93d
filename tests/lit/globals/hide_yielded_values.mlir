// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hide-stored-values{branches=true})' | FileCheck %s

// What a branch makes of a global, and the global is set to, is hidden where it is made; what it passes on is not.
// CHECK-LABEL: util.func public @step
// CHECK:         scf.if
// CHECK:           %[[NEW:.*]] = flow.tensor.update
// CHECK-NEXT:      %[[HELD:.*]] = util.optimization_barrier %[[NEW]] : tensor<4x4xf32>
// CHECK-NEXT:      scf.yield %[[HELD]] : tensor<4x4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %{{.*}} : tensor<4x4xf32>
util.global private mutable @cache : tensor<4x4xf32>
util.func public @step(%row: tensor<1x4xf32>, %p: i1, %i: index) {
  %c0 = arith.constant 0 : index
  %old = util.global.load @cache : tensor<4x4xf32>
  %s = scf.if %p -> tensor<4x4xf32> {
    %new = flow.tensor.update %row, %old[%i, %c0] : tensor<1x4xf32> -> %old as tensor<4x4xf32>
    scf.yield %new : tensor<4x4xf32>
  } else {
    scf.yield %old : tensor<4x4xf32>
  }
  util.global.store %s, @cache : tensor<4x4xf32>
  util.return
}

// The twin's branch passes on what it is given.
// CHECK-LABEL: util.func public @twin
// CHECK-NOT:     optimization_barrier
util.func public @twin(%row: tensor<4x4xf32>, %p: i1) {
  %old = util.global.load @cache : tensor<4x4xf32>
  %s = scf.if %p -> tensor<4x4xf32> {
    scf.yield %row : tensor<4x4xf32>
  } else {
    scf.yield %old : tensor<4x4xf32>
  }
  util.global.store %s, @cache : tensor<4x4xf32>
  util.return
}
