// RUN: not fissile-opt %s --fissile-assert-bounds 2>&1 | FileCheck %s

// CHECK: error[FIS201] tensor.extract_slice reads max(11, %n) elements from 0 on in dimension 0; its source has 10
// CHECK: assert-bounds-refuted.mlir:10
// CHECK: for example where %n is
// CHECK: decided by intervals
func.func @never(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %c11 = arith.constant 11 : index
  %m = arith.maxsi %n, %c11 : index
  %r = tensor.extract_slice %x[0] [%m] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
