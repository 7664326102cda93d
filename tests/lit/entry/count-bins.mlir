// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-count-bins)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @bins
// CHECK: torch.aten.eq.Tensor {{.*}} -> !torch.vtensor<[?,4],i1>
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[4],si64>
func.func @bins(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[4],f32> {
  %n = torch.constant.int 4
  %low = torch.constant.int 0
  %r = torch.operator "torch.aten.histc"(%x, %n, %low, %n) : (!torch.vtensor<[?],f32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: @own_range
// CHECK: aten.histc
func.func @own_range(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[4],f32> {
  %n = torch.constant.int 4
  %low = torch.constant.int 0
  %r = torch.operator "torch.aten.histc"(%x, %n, %low, %low) : (!torch.vtensor<[?],f32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
