// RUN: fissile-opt %s --fissile-lower-storage --verify-contracts | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME:    (%[[N:.*]]: index)
func.func @f(%n: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  // CHECK-NOT: fissile.
  // CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
  // CHECK: linalg.fill {{.*}} outs(%[[E]]
  %s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?x4xf32>
  %r = linalg.fill ins(%one : f32) outs(%t : tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: return
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @silent
func.func @silent(%n: index) -> tensor<?xf32> {
  // CHECK-NEXT: %[[E:.*]] = tensor.empty
  // CHECK-NEXT: return %[[E]]
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}
