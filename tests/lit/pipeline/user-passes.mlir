// RUN: fissile-opt %s --load-passes=%S/Inputs/user_passes.py --user-count-ops='at-most=1' 2>&1 | FileCheck %s
// RUN: fissile-opt %s --load-passes=%S/Inputs/user_passes.py --user-count-ops='at_most=9' 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: not fissile-opt %s --load-passes=%S/Inputs/user_passes.py --user-add-boundary --verify-contracts 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not fissile-opt %s --load-passes=%S/Inputs/user_passes.py --user-throws 2>&1 | FileCheck %s --check-prefix=THROWS

// CHECK: note[FIS003] 2 ops
// SILENT-NOT: note
// BROKEN: error[FIS502] pass 'user-add-boundary' does not establish no-fissile-boundaries: no fissile.boundary is left
// THROWS: fissile-opt: error: pass 'user-throws' ({{.*}}user_passes.py:{{[0-9]+}}) failed: KeyError: 'no such thing'
// THROWS-NOT: Traceback
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %t : tensor<4xf32>
  return %0 : tensor<4xf32>
}
