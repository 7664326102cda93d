// RUN: not fissile-opt %s --pass-pipeline='builtin.module(func.func(canonicalize),fissile-lower-requires)' 2>&1 | FileCheck %s

// Both are reported in one run, each at its place; the satisfiable one is not.
// CHECK: error[FIS403] a precondition never holds: 5 < 4
// CHECK-NEXT: refuted.mlir:[[# @LINE + 7]]:3
// CHECK: error[FIS403] a precondition never holds: never
// CHECK-NOT: error
func.func @f(%ok: i1) {
  %c5 = arith.constant 5 : index
  %c4 = arith.constant 4 : index
  %no = arith.cmpi ult, %c5, %c4 : index
  "fissile.require"(%no) {message = "5 < 4"} : (i1) -> ()
  %false = arith.constant false
  "fissile.require"(%false) {message = "never"} : (i1) -> ()
  "fissile.require"(%ok) {message = "open"} : (i1) -> ()
  return
}
