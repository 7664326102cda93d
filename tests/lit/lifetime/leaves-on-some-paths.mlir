// A tensor on a storage that leaves the function on some paths, and another tensor on the others.
// RUN: fissile-opt %s --fissile-insert-kills 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTES < %t.err
// RUN: FileCheck %s --check-prefix=TWINS < %t.err
// RUN: fissile-opt %s --fissile-insert-kills -o %t.once
// RUN: not fissile-opt %t.once --fissile-check-lifetimes -o %t.same 2> %t.err
// RUN: FileCheck %s --check-prefix=AFTER < %t.err
// RUN: fissile-opt %t.once --fissile-insert-kills -o %t.twice
// RUN: diff %t.once %t.twice
// AFTER-COUNT-5: error[FIS304]
// AFTER-NOT: error
// TWINS-NOT: %quiet

util.global private mutable @state = dense<0.0> : tensor<4xf32>

// The branch that does not give it away releases it, where the result leaves on every path behind.
// CHECK-LABEL: func.func @branch
// CHECK:         scf.yield
// CHECK:         arith.mulf
// CHECK-NEXT:    "fissile.kill"
// CHECK-NEXT:    scf.yield
// CHECK-NOT:     fissile.kill
func.func @branch(%x: tensor<4xf32>, %c: i1) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet3 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet3, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    %m = arith.mulf %f, %f : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  %e = tensor.expand_shape %w [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %e : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @nested
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } else {
// CHECK-NEXT:        "fissile.kill"
// CHECK-NEXT:        scf.yield
// CHECK:         } else {
// CHECK-NEXT:      "fissile.kill"
// CHECK-NEXT:      scf.yield
// CHECK-NOT:     fissile.kill
func.func @nested(%x: tensor<4xf32>, %c: i1, %d: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet4 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet4, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    %v = scf.if %d -> tensor<4xf32> {
      scf.yield %f : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %v : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  util.global.store %w, @state : tensor<4xf32>
  return
}

// It is used behind the branch under its own name.
// NOTES-DAG: warning[FIS310] no release of %used was placed
// CHECK-LABEL: func.func @used
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @used(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %used = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%used, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %w = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %r = tensor.extract %f[%c0] : tensor<4xf32>
  return %w, %r : tensor<4xf32>, f32
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

// Stored on some paths, and on all.
// NOTES-DAG: warning[FIS310] no release of %sometimes was placed
// CHECK-LABEL: func.func @stored_sometimes
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @stored_sometimes(%x: tensor<4xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %sometimes = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%sometimes, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  scf.if %c {
    util.global.store %f, @state : tensor<4xf32>
  }
  return
}
// CHECK-LABEL: func.func @stored_always
// CHECK-NOT:     fissile.kill
// CHECK:         return
func.func @stored_always(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet5 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet5, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  util.global.store %f, @state : tensor<4xf32>
  return
}
// A buffer that is stored stays without a release, also where a flag could decide.
// CHECK-LABEL: func.func @buffer
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @buffer(%m: memref<memref<4xf32>>, %c: i1, %o: memref<4xf32>) {
  %part = memref.alloc() : memref<4xf32>
  %s = arith.select %c, %part, %o : memref<4xf32>
  memref.store %s, %m[] : memref<memref<4xf32>>
  return
}
