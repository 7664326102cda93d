// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scan-exponentials)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @running
// CHECK: iree_linalg_ext.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<?x?xf32>)
// CHECK: math.log1p
// CHECK-NOT: torch.aten.logcumsumexp
func.func @running(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %dim = torch.constant.int -1
  %r = torch.aten.logcumsumexp %x, %dim : !torch.vtensor<[?,?],f32>, !torch.int -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// Double precision was not tried.
// CHECK-LABEL: @silent
// CHECK: torch.aten.logcumsumexp
func.func @silent(%x: !torch.vtensor<[?,?],f64>) -> !torch.vtensor<[?,?],f64> {
  %dim = torch.constant.int -1
  %r = torch.aten.logcumsumexp %x, %dim : !torch.vtensor<[?,?],f64>, !torch.int -> !torch.vtensor<[?,?],f64>
  return %r : !torch.vtensor<[?,?],f64>
}
