// RUN: fissile-opt %s --fissile-lower-requires --verify-contracts | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(func.func(canonicalize),fissile-lower-requires,func.func(canonicalize))' | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @unknown
// FOLDED-LABEL: func.func @unknown
func.func @unknown(%ok: i1) {
  // CHECK-NEXT: cf.assert %{{.*}}, "at most 16 rows"
  // FOLDED-NEXT: cf.assert
  "fissile.require"(%ok) {message = "at most 16 rows"} : (i1) -> ()
  return
}

// Proved: nothing is left, once canonicalize has folded the comparison.
// CHECK-LABEL: func.func @proved
// CHECK: cf.assert
// FOLDED-LABEL: func.func @proved
// FOLDED-NEXT: return
func.func @proved() {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %ok = arith.cmpi ult, %c3, %c4 : index
  "fissile.require"(%ok) {message = "3 < 4"} : (i1) -> ()
  return
}
