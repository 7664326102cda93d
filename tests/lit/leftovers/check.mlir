// RUN: not fissile-opt %s --fissile-check-leftovers 2>&1 | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-lower-boundaries,fissile-lower-requires,fissile-check-leftovers)' 2>&1 | FileCheck %s --check-prefix=SILENT

// SILENT-NOT: error
// CHECK: error[FIS401] fissile.boundary is left over: IREE cannot translate it
// CHECK-NEXT: check.mlir:[[# @LINE + 5]]:8
// CHECK: note: run fissile-lower-boundaries after the pass that makes it
// CHECK: error[FIS401] fissile.require is left over: IREE cannot translate it
// CHECK: note: run fissile-lower-requires after the pass that makes it
func.func @f(%t: tensor<4xf32>, %ok: i1) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  "fissile.require"(%ok) {message = "ok"} : (i1) -> ()
  return %0 : tensor<4xf32>
}
