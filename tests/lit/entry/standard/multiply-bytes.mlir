// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-multiply-bytes)' | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK:         torch.aten.mm {{.*}} -> !torch.vtensor<[?,?],si32>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[?,?],si8>
func.func @product(%x: !torch.vtensor<[?,?],si8>, %y: !torch.vtensor<[?,?],si8>) -> !torch.vtensor<[?,?],si8> {
  %r = torch.aten.mm %x, %y : !torch.vtensor<[?,?],si8>, !torch.vtensor<[?,?],si8> -> !torch.vtensor<[?,?],si8>
  return %r : !torch.vtensor<[?,?],si8>
}

// Integers of 32 bits are multiplied as they are, and a wider result holds other numbers.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     to.dtype
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,2],si32>, %y: !torch.vtensor<[2,2],si8>) -> (!torch.vtensor<[2,2],si32>, !torch.vtensor<[2,2],si32>) {
  %r = torch.aten.mm %x, %x : !torch.vtensor<[2,2],si32>, !torch.vtensor<[2,2],si32> -> !torch.vtensor<[2,2],si32>
  %s = torch.aten.mm %y, %y : !torch.vtensor<[2,2],si8>, !torch.vtensor<[2,2],si8> -> !torch.vtensor<[2,2],si32>
  return %r, %s : !torch.vtensor<[2,2],si32>, !torch.vtensor<[2,2],si32>
}
