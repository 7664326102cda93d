// RUN: not fissile-opt %s --fissile-check-leftovers 2>&1 | FileCheck %s
// RUN: sed 's/{fissile.mark}//' %s | fissile-opt --pass-pipeline='builtin.module(fissile-lower-boundaries,fissile-lower-requires,fissile-check-leftovers)' 2>&1 | FileCheck %s --check-prefix=SILENT

// SILENT-NOT: error
// CHECK: error[FIS401] fissile.boundary remains, and IREE cannot translate it
// CHECK-NEXT: check.mlir:[[# @LINE + 7]]:8
// CHECK: note: run fissile-lower-boundaries after the pass that makes it
// CHECK: error[FIS401] fissile.require remains, and IREE cannot translate it
// CHECK: note: run fissile-lower-requires after the pass that makes it
// CHECK: error[FIS401] attribute fissile.mark is left over on math.exp
// CHECK-NOT: budget
func.func @f(%t: tensor<4xf32>, %ok: i1) -> tensor<4xf32> attributes {fissile.budget = 4096 : i64} {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  "fissile.require"(%ok) {message = "ok"} : (i1) -> ()
  %1 = math.exp %0 {fissile.mark} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
