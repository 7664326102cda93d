// RUN: not fissile-opt %s --fissile-check-lifetimes -o %t.same 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=TWINS < %t.err
// The twins, whose storage begins with %ok, are silent.
// TWINS-NOT: %ok

// CHECK-DAG: error[FIS303] tensor.extract uses %reshaped after its release
func.func @reshape(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %reshaped = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%reshaped, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = flow.tensor.reshape %f : tensor<4xf32> -> tensor<2x2xf32>
  "fissile.kill"(%reshaped) : (!fissile.storage) -> ()
  %r = tensor.extract %z[%c0, %c0] : tensor<2x2xf32>
  return %r : f32
}

// CHECK-DAG: error[FIS303] tensor.extract uses %chosen after its release
// CHECK-DAG: on a path where the condition of arith.select in line {{.*}} is true
func.func @select(%x: tensor<4xf32>, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %chosen = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%chosen, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.select %c, %f, %x : tensor<4xf32>
  "fissile.kill"(%chosen) : (!fissile.storage) -> ()
  %r = tensor.extract %z[%c0] : tensor<4xf32>
  return %r : f32
}
// The other operand was chosen where it is released early.
func.func @select_other(%x: tensor<4xf32>, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %ok1 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%ok1, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.select %c, %f, %x : tensor<4xf32>
  scf.if %c { } else { "fissile.kill"(%ok1) : (!fissile.storage) -> () }
  %r = tensor.extract %z[%c0] : tensor<4xf32>
  scf.if %c { "fissile.kill"(%ok1) : (!fissile.storage) -> () }
  return %r : f32
}
func.func @select_elements(%x: tensor<4xf32>, %c: tensor<4xi1>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %ok2 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%ok2, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = arith.select %c, %f, %x : tensor<4xi1>, tensor<4xf32>
  "fissile.kill"(%ok2) : (!fissile.storage) -> ()
  %r = tensor.extract %z[%c0] : tensor<4xf32>
  return %r : f32
}

// CHECK-DAG: error[FIS303] flow.tensor.load uses %updated after its release
func.func @update(%x: tensor<4xf32>, %y: tensor<1xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %updated = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%updated, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %u = flow.tensor.update %y, %f[%c0] : tensor<1xf32> -> %f as tensor<4xf32>
  "fissile.kill"(%updated) : (!fissile.storage) -> ()
  %r = flow.tensor.load %u[%c0] : tensor<4xf32>
  return %r : f32
}
// A part that is copied, and a tensor that takes a copy of one, are other tensors.
func.func @copies(%x: tensor<4xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %ok3 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%ok3, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %p = flow.tensor.slice %f[%c0 for %c1] : tensor<4xf32> -> tensor<1xf32>
  %u = flow.tensor.update %p, %x[%c0] : tensor<1xf32> -> %x as tensor<4xf32>
  "fissile.kill"(%ok3) : (!fissile.storage) -> ()
  %r = flow.tensor.load %u[%c0] : tensor<4xf32>
  %q = flow.tensor.load %p[%c0] : tensor<1xf32>
  return %r, %q : f32, f32
}

// An op of a front end whose result may be its operand: let through, and said.
// CHECK-DAG: note[FIS309] stablehlo.reshape takes storage
func.func @unknown_view(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %ok4 = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%ok4, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %f = linalg.copy ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %z = stablehlo.reshape %f : (tensor<4xf32>) -> tensor<2x2xf32>
  "fissile.kill"(%ok4) : (!fissile.storage) -> ()
  %r = tensor.extract %z[%c0, %c0] : tensor<2x2xf32>
  return %r : f32
}

// How often an unknown op runs its region, and so the release in it, is not known.
// CHECK-DAG: note[FIS309] my.region takes storage
func.func @released_in_an_unknown_region() {
  %ok5 = memref.alloc() : memref<4xf32>
  "my.region"() ({
    memref.dealloc %ok5 : memref<4xf32>
    "my.end"() : () -> ()
  }) : () -> ()
  return
}
// Regions of a known op run any number of times: a release in them is wrong.
// CHECK-DAG: error[FIS302] %often is released twice
func.func @released_in_a_parallel_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %often = memref.alloc() : memref<4xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.dealloc %often : memref<4xf32>
  }
  return
}
