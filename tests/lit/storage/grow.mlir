// RUN: fissile-opt %s --fissile-grow-storage 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err

// The capacity is the largest end of the uses, and never below what it was.
// CHECK-LABEL: func.func @storage
// CHECK:         %[[BYTES:.*]] = arith.muli %arg0
// CHECK:         %[[MAX:.*]] = arith.maxsi {{.*}}%[[BYTES]]
// CHECK:         fissile.alloc_storage"(%[[MAX]])
// REPORT: note[FIS207] storage of 64 bytes has now max(64, 4 * %n) bytes
func.func @storage(%n: index) -> tensor<?xf32> {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %cst = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?xf32>
  %f = linalg.fill ins(%cst : f32) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  return %f : tensor<?xf32>
}

// CHECK-LABEL: func.func @tensor
// CHECK:         tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK:         linalg.fill {{.*}} -> tensor<?xf32>
// CHECK:         tensor.insert_slice {{.*}} into tensor<?xf32>
// REPORT: note[FIS207] storage of 10 elements has now
func.func @tensor(%y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %i = tensor.insert_slice %y into %z[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  %x = tensor.extract_slice %i[0] [%n] [1] : tensor<10xf32> to tensor<?xf32>
  return %x : tensor<?xf32>
}

// What fits stays, and what escapes stays: its size is part of the function's type.
// CHECK-LABEL: func.func @left_alone
// CHECK:         tensor.empty() : tensor<10xf32>
// CHECK:         tensor.empty() : tensor<12xf32>
// REPORT-NOT: FIS207
func.func @left_alone(%y: tensor<?xf32>, %n: index) -> (tensor<10xf32>, tensor<4xf32>) {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %i = tensor.insert_slice %y into %e[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  %g = tensor.empty() : tensor<12xf32>
  %z = linalg.fill ins(%cst : f32) outs(%g : tensor<12xf32>) -> tensor<12xf32>
  %x = tensor.extract_slice %z[8] [4] [1] : tensor<12xf32> to tensor<4xf32>
  return %i, %x : tensor<10xf32>, tensor<4xf32>
}
