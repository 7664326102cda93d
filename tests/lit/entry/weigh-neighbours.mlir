// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-weigh-neighbours)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-COUNT-2: torch.aten.index_select {{.*}} -> !torch.vtensor<[1,3,8],f32>
// CHECK-NOT: upsample
func.func @linear(%x: !torch.vtensor<[1,3,4],f32>) -> !torch.vtensor<[1,3,8],f32> {
  %n = torch.constant.int 8
  %s = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %c = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.operator "torch.aten.upsample_linear1d.vec"(%x, %s, %c, %none) : (!torch.vtensor<[1,3,4],f32>, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[1,3,8],f32>
  return %r : !torch.vtensor<[1,3,8],f32>
}

// CHECK-LABEL: @half
// CHECK: upsample_linear1d
func.func @half(%x: !torch.vtensor<[1,3,4],f16>) -> !torch.vtensor<[1,3,8],f16> {
  %n = torch.constant.int 8
  %s = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %c = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.operator "torch.aten.upsample_linear1d.vec"(%x, %s, %c, %none) : (!torch.vtensor<[1,3,4],f16>, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[1,3,8],f16>
  return %r : !torch.vtensor<[1,3,8],f16>
}
