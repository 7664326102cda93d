// Release after the last use and then fold constants, and the reverse: both leave one release, of the storage.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-insert-kills,canonicalize,cse,fissile-check-lifetimes)' 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// RUN: fissile-opt %s --pass-pipeline='builtin.module(canonicalize,cse,fissile-insert-kills,fissile-check-lifetimes)' 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.err
// The release of a tensor that was put there by hand is one of a constant once that tensor is folded.
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(canonicalize,fissile-check-lifetimes)' 2>&1 | FileCheck %s --check-prefix=FOLDED
// FOLDED: error[FIS306]
// SILENT-NOT: FIS

// CHECK-LABEL: func.func @sum
// CHECK:         %[[S:.*]] = "fissile.alloc_storage"
// CHECK-NOT:     arith.addf
// CHECK:         "fissile.kill"(%[[S]])
// CHECK-NOT:     fissile.kill
func.func @sum(%i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %three = arith.addf %one, %two : tensor<4xf32>
  %f = linalg.copy ins(%three : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "fissile.kill"(%three) : (tensor<4xf32>) -> ()
  %l = tensor.extract %f[%i] : tensor<4xf32>
  return %l : f32
}
