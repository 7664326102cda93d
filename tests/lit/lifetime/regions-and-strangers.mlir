// Regions that run any number of times, and ops of which nobody knows what they do with storage.
// RUN: fissile-opt %s --fissile-insert-kills --fissile-check-lifetimes 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTES < %t.err
// RUN: FileCheck %s --check-prefix=ELSE < %t.err
// RUN: fissile-opt %s --fissile-insert-kills -o %t.once
// RUN: fissile-opt %t.once --fissile-insert-kills -o %t.twice
// RUN: diff %t.once %t.twice
// ELSE-NOT: error
// ELSE-NOT: warning
// ELSE-NOT: %quiet

// CHECK-LABEL: func.func @parallel
// CHECK:         scf.parallel
// CHECK:           memref.dealloc %[[T:.*]] :
// CHECK:           scf.reduce
// CHECK:         }
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @parallel(%n: index, %o: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %quiet1 = memref.alloc(%n) : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %quiet2 = memref.alloc() : memref<1xf32>
    %r = memref.load %quiet1[%i] : memref<?xf32>
    memref.store %r, %quiet2[%c0] : memref<1xf32>
    %q = memref.load %quiet2[%c0] : memref<1xf32>
    memref.store %q, %o[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func @reduce
// CHECK:         scf.reduce.return
// CHECK:         memref.dealloc
// CHECK-NEXT:    return
func.func @reduce(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %quiet3 = memref.alloc(%n) : memref<?xf32>
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %r = memref.load %quiet3[%i] : memref<?xf32>
    scf.reduce(%r : f32) {
    ^bb0(%x: f32, %y: f32):
      %q = arith.addf %x, %y : f32
      scf.reduce.return %q : f32
    }
  }
  return %s : f32
}

// A tensor that a forall shares, and its result, stand on the storage.
// CHECK-LABEL: func.func @forall
// CHECK:         scf.forall
// CHECK:         tensor.extract %
// CHECK-NEXT:    "fissile.kill"
func.func @forall(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quiet4 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%quiet4, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
    %p = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %r = tensor.extract %f[%c0] : tensor<4xf32>
  return %r : f32
}

// CHECK-LABEL: func.func @unknown_region
// CHECK:         my.end
// CHECK-NEXT:    })
// CHECK-NEXT:    memref.dealloc
func.func @unknown_region(%n: index) {
  %c0 = arith.constant 0 : index
  %quiet5 = memref.alloc(%n) : memref<?xf32>
  "my.region"() ({
    %r = memref.load %quiet5[%c0] : memref<?xf32>
    "my.end"(%r) : (f32) -> ()
  }) : () -> ()
  return
}

// What an unknown op's region yields may be its result.
// NOTES-DAG: note[FIS309] my.other takes storage
// CHECK-LABEL: func.func @unknown_result
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @unknown_result(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %m = "my.other"() ({
    %a = memref.alloc(%n) : memref<?xf32>
    "my.yield"(%a) : (memref<?xf32>) -> ()
  }) : () -> memref<?xf32>
  %r = memref.load %m[%c0] : memref<?xf32>
  return %r : f32
}

// NOTES-DAG: note[FIS309] func.call_indirect takes storage
// CHECK-LABEL: func.func @indirect
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @indirect(%f: (memref<?xf32>) -> (), %n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  call_indirect %f(%a) : (memref<?xf32>) -> ()
  return
}

// NOTES-DAG: note[FIS309] memref.extract_aligned_pointer_as_index takes storage
// CHECK-LABEL: func.func @pointer
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @pointer(%n: index) -> index {
  %a = memref.alloc(%n) : memref<?xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  return %p : index
}
