// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-select-ordered)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @median
// CHECK: torch.aten.where.ScalarSelf
// CHECK: torch.aten.sort
// CHECK: torch.aten.select.int {{.*}} -> !torch.vtensor<[?],f32>
// CHECK: torch.aten.amin {{.*}} -> !torch.vtensor<[?],si64>
func.func @median(%x: !torch.vtensor<[?,7],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>) {
  %dim = torch.constant.int 1
  %keep = torch.constant.bool false
  %r:2 = torch.operator "torch.aten.median.dim"(%x, %dim, %keep) : (!torch.vtensor<[?,7],f32>, !torch.int, !torch.bool) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>)
  return %r#0, %r#1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
}

// CHECK-LABEL: @median_of_all
// CHECK: torch.aten.flatten.using_ints
// CHECK: torch.aten.__rshift__.Scalar
// CHECK: torch.aten.index_select
func.func @median_of_all(%x: !torch.vtensor<[?,7],si64>) -> !torch.vtensor<[],si64> {
  %r = torch.operator "torch.aten.median"(%x) : (!torch.vtensor<[?,7],si64>) -> !torch.vtensor<[],si64>
  return %r : !torch.vtensor<[],si64>
}

// CHECK-LABEL: @mode
// CHECK: torch.aten.eq.Tensor {{.*}} -> !torch.vtensor<[4,7,7],i1>
// CHECK: torch.aten.amin {{.*}} -> !torch.vtensor<[4],si64>
func.func @mode(%x: !torch.vtensor<[4,7],si64>) -> (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) {
  %dim = torch.constant.int -1
  %keep = torch.constant.bool false
  %r:2 = torch.operator "torch.aten.mode"(%x, %dim, %keep) : (!torch.vtensor<[4,7],si64>, !torch.int, !torch.bool) -> (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>)
  return %r#0, %r#1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>
}

// CHECK-LABEL: @unknown
// CHECK: torch.aten.kthvalue
func.func @unknown(%x: !torch.vtensor<[4,7],f32>, %k: !torch.int) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
  %dim = torch.constant.int 1
  %keep = torch.constant.bool false
  %v, %i = torch.aten.kthvalue %x, %k, %dim, %keep : !torch.vtensor<[4,7],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
  return %v, %i : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
}
