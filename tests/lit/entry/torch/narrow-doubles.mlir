// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-narrow-doubles)' | FileCheck %s

// CHECK-LABEL: func.func @kth
// CHECK:         torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[?,9],f32>
// CHECK:         torch.aten.kthvalue {{.*}} -> !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[?],f64>
func.func @kth(%x: !torch.vtensor<[?,9],f64>) -> !torch.vtensor<[?],f64> {
  %k = torch.constant.int 7
  %dim = torch.constant.int 1
  %no = torch.constant.bool false
  %v, %i = torch.aten.kthvalue %x, %k, %dim, %no : !torch.vtensor<[?,9],f64>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[?],f64>, !torch.vtensor<[?],si64>
  return %v : !torch.vtensor<[?],f64>
}

// No other pass writes these with others.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     to.dtype
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64> {
  %r = torch.aten.exp %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
  return %r : !torch.vtensor<[4],f64>
}
