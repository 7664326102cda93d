// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sum-exponentials)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @two_dims
// CHECK: torch.aten.amax {{.*}} -> !torch.vtensor<[1,9,1],f32>
// CHECK: torch.aten.exp
// CHECK: torch.aten.sum.dim_IntList
// CHECK: torch.aten.log
// CHECK: torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[1,9],f32>
// CHECK: torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[9],f32>
func.func @two_dims(%x: !torch.vtensor<[?,9,4],f32>) -> !torch.vtensor<[9],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %0, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %keep = torch.constant.bool false
  %r = torch.aten.logsumexp %x, %dims, %keep : !torch.vtensor<[?,9,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[9],f32>
  return %r : !torch.vtensor<[9],f32>
}

// CHECK-LABEL: @unknown
// CHECK: torch.aten.logsumexp
func.func @unknown(%x: !torch.vtensor<[?,9],f32>, %keep: !torch.bool) -> !torch.vtensor<[?],f32> {
  %1 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
  %r = torch.aten.logsumexp %x, %dims, %keep : !torch.vtensor<[?,9],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
