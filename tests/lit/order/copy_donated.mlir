// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-donated)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-donated{aliases=step:1})' | FileCheck %s --check-prefix=ONE

// All that reads the arguments reads copies, and the results depend on these.
// CHECK-LABEL: util.func public @step
// CHECK:         %[[A:.*]] = hal.tensor.import %arg0
// CHECK:         %[[CA:.*]] = linalg.generic {{.*}} ins(%[[A]] :
// CHECK:         %[[W:.*]] = util.optimization_barrier %[[CA]]
// CHECK:         %[[B:.*]] = hal.tensor.import %arg1
// CHECK:         %[[CB:.*]] = linalg.generic {{.*}} ins(%[[B]] :
// CHECK:         %[[M:.*]] = util.optimization_barrier %[[CB]]
// CHECK:         %[[X:.*]] = arith.addf %[[W]], %[[M]]
// CHECK:         %[[Y:.*]] = arith.mulf %[[W]], %[[M]]
// CHECK:         %[[BX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] :
// CHECK:         hal.tensor.alias %[[BX]] : tensor<4xf32> to %arg0
// CHECK:         %[[BY:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[M]] :
// CHECK:         hal.tensor.alias %[[BY]] : tensor<4xf32> to %arg1
//
// The other one is left.
// ONE-LABEL: util.func public @step
// ONE:         %[[W:.*]] = hal.tensor.import %arg0
// ONE:         %[[B:.*]] = hal.tensor.import %arg1
// ONE:         %[[CB:.*]] = linalg.generic {{.*}} ins(%[[B]] :
// ONE:         %[[M:.*]] = util.optimization_barrier %[[CB]]
// ONE:         %[[X:.*]] = arith.addf %[[W]], %[[M]]
// ONE:         hal.tensor.alias %[[X]] : tensor<4xf32> to %arg0
util.func public @step(%a: !hal.buffer_view, %b: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %w = hal.tensor.import %a : !hal.buffer_view -> tensor<4xf32>
  %m = hal.tensor.import %b : !hal.buffer_view -> tensor<4xf32>
  %x = arith.addf %w, %m : tensor<4xf32>
  %y = arith.mulf %w, %m : tensor<4xf32>
  %p = hal.tensor.alias %x : tensor<4xf32> to %a : !hal.buffer_view
  %q = hal.tensor.alias %y : tensor<4xf32> to %b : !hal.buffer_view
  %v = hal.tensor.export %p : tensor<4xf32> -> !hal.buffer_view
  %z = hal.tensor.export %q : tensor<4xf32> -> !hal.buffer_view
  util.return %v, %z : !hal.buffer_view, !hal.buffer_view
}

// No result has storage.
// CHECK-LABEL: util.func public @none
// CHECK-NOT:     util.optimization_barrier
util.func public @none(%a: !hal.buffer_view) -> !hal.buffer_view {
  %w = hal.tensor.import %a : !hal.buffer_view -> tensor<4xf32>
  %x = arith.addf %w, %w : tensor<4xf32>
  %v = hal.tensor.export %x : tensor<4xf32> -> !hal.buffer_view
  util.return %v : !hal.buffer_view
}
