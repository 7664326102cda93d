// fissile's and IREE's passes in one pipeline, nested and with options.
// RUN: fissile-opt %s --pass-pipeline='builtin.module( func.func( cse, canonicalize{max-iterations=2 top-down=true} ), fissile-lower-boundaries, func.func(cse), symbol-dce )' | FileCheck %s
// RUN: fissile-opt --fissile-lower-boundaries < %s | FileCheck %s --check-prefix=ALONE

// The two equal boundaries are one after CSE only if CSE ran: unregistered ops are never merged, barriers are.
// CHECK-LABEL: func.func @f
// CHECK-COUNT-1: compute_barrier.start
// CHECK-NOT: compute_barrier.start
// ALONE-COUNT-2: compute_barrier.start
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// symbol-dce ran too.
// CHECK-NOT: @unused
func.func private @unused(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}
