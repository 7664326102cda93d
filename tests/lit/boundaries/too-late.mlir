// Behind dispatch creation a boundary has nothing to act on: refused before it runs, with the reason.
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(iree-dispatch-creation-pipeline,fissile-lower-boundaries)' 2>&1 | FileCheck %s
// The other order is fine.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-lower-boundaries,iree-dispatch-creation-pipeline)' | FileCheck %s --check-prefix=RIGHT

// CHECK: error[FIS501] pass 'fissile-lower-boundaries' requires dispatches-not-formed, and 'iree-dispatch-creation-pipeline' before it breaks that
// RIGHT: util.func
// RIGHT-NOT: compute_barrier
util.func public @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
