// A tensor on a storage that leaves the function on some paths, and another tensor on the others.
// RUN: fissile-opt %s --fissile-insert-kills 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTES < %t.err
// RUN: FileCheck %s --check-prefix=TWINS < %t.err
// TWINS-NOT: %quiet

util.global private mutable @state = dense<0.0> : tensor<4xf32>

// NOTES-DAG: warning[FIS310] no release of %branch was placed
// CHECK-LABEL: func.func @branch
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %branch = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%branch, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    %m = arith.mulf %f, %f : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  return %w : tensor<4xf32>
}

// NOTES-DAG: warning[FIS310] no release of %stored was placed
// CHECK-LABEL: func.func @stored
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @stored(%x: tensor<4xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %stored = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%stored, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = arith.select %c, %f, %x : tensor<4xf32>
  util.global.store %w, @state : tensor<4xf32>
  return
}

// NOTES-DAG: warning[FIS310] no release of %loop was placed
// CHECK-LABEL: func.func @loop
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %loop = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%loop, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %f) -> tensor<4xf32> {
    %z = arith.addf %q, %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The twins: both ways out are the storage, or what leaves is another tensor.
// CHECK-LABEL: func.func @both
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @both(%x: tensor<4xf32>, %c: i1, %k: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet1 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet1, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    %m = tensor.insert %k into %f[%c0] : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @neither
// CHECK:         scf.if
// CHECK:         arith.addf
// CHECK-NEXT:    "fissile.kill"
func.func @neither(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet2 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet2, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %a = arith.addf %w, %x : tensor<4xf32>
  return %a : tensor<4xf32>
}
