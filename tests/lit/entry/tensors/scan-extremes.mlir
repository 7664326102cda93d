// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scan-extremes)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @largest
// CHECK: iree_linalg_ext.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<?x?xf32>)
// CHECK: arith.maximumf
// CHECK: torch.aten.eq.Tensor
// CHECK: iree_linalg_ext.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<?x?xi64>)
// CHECK: arith.maxsi
func.func @largest(%x: !torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>) {
  %dim = torch.constant.int -1
  %r:2 = torch.operator "torch.aten.cummax"(%x, %dim) : (!torch.vtensor<[?,?],f32>, !torch.int) -> (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>)
  return %r#0, %r#1 : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>
}

// CHECK-LABEL: @smallest
// CHECK: arith.minsi
// CHECK: arith.maxsi
func.func @smallest(%x: !torch.vtensor<[6,4],si32>) -> (!torch.vtensor<[6,4],si32>, !torch.vtensor<[6,4],si64>) {
  %dim = torch.constant.int 0
  %r:2 = torch.operator "torch.aten.cummin"(%x, %dim) : (!torch.vtensor<[6,4],si32>, !torch.int) -> (!torch.vtensor<[6,4],si32>, !torch.vtensor<[6,4],si64>)
  return %r#0, %r#1 : !torch.vtensor<[6,4],si32>, !torch.vtensor<[6,4],si64>
}

// CHECK-LABEL: @no_sign
// CHECK: aten.cummin
func.func @no_sign(%x: !torch.vtensor<[6,4],ui8>) -> (!torch.vtensor<[6,4],ui8>, !torch.vtensor<[6,4],si64>) {
  %dim = torch.constant.int 0
  %r:2 = torch.operator "torch.aten.cummin"(%x, %dim) : (!torch.vtensor<[6,4],ui8>, !torch.int) -> (!torch.vtensor<[6,4],ui8>, !torch.vtensor<[6,4],si64>)
  return %r#0, %r#1 : !torch.vtensor<[6,4],ui8>, !torch.vtensor<[6,4],si64>
}
