// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-contract-dims)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @two
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[?,12],f32>
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[12,6],f32>
// CHECK: torch.aten.mm {{.*}} -> !torch.vtensor<[?,6],f32>
func.func @two(%x: !torch.vtensor<[?,4,3],f32>, %y: !torch.vtensor<[4,3,6],f32>) -> !torch.vtensor<[?,6],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %a = torch.prim.ListConstruct %1, %2 : (!torch.int, !torch.int) -> !torch.list<int>
  %b = torch.prim.ListConstruct %0, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.tensordot"(%x, %y, %a, %b) : (!torch.vtensor<[?,4,3],f32>, !torch.vtensor<[4,3,6],f32>, !torch.list<int>, !torch.list<int>) -> !torch.vtensor<[?,6],f32>
  return %r : !torch.vtensor<[?,6],f32>
}

// PyTorch sums the other operand's dimension.
// CHECK-LABEL: @broadcast
// CHECK: aten.tensordot
func.func @broadcast(%x: !torch.vtensor<[4,1],f32>, %y: !torch.vtensor<[5,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %a = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
  %b = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.tensordot"(%x, %y, %a, %b) : (!torch.vtensor<[4,1],f32>, !torch.vtensor<[5,6],f32>, !torch.list<int>, !torch.list<int>) -> !torch.vtensor<[4,6],f32>
  return %r : !torch.vtensor<[4,6],f32>
}
