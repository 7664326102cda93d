// RUN: not fissile-opt %s --fissile-lower-storage 2>&1 | FileCheck %s

// CHECK: error[FIS404] a storage escapes to func.return, where no pass can lower it
func.func @returned(%n: index) -> !fissile.storage {
  %s = "fissile.alloc_storage"(%n) : (index) -> !fissile.storage
  return %s : !fissile.storage
}

// CHECK: error[FIS404] fissile.alloc_tensor is given a storage that is not allocated in the same function
// CHECK: error[FIS404] fissile.kill is given a storage that is not allocated in the same function
func.func @argument(%s: !fissile.storage, %n: index) -> tensor<4xf32> {
  %t = "fissile.alloc_tensor"(%s, %n) : (!fissile.storage, index) -> tensor<4xf32>
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  return %t : tensor<4xf32>
}
