// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-concatenate-pads)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @circular
// CHECK-NOT: torch.aten.pad
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[2,2],f32>
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[2,1],f32>
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[2,8],f32>
func.func @circular(%x: !torch.vtensor<[2,5],f32>) -> !torch.vtensor<[2,8],f32> {
  %a = torch.constant.int 2
  %b = torch.constant.int 1
  %w = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %m = torch.constant.str "circular"
  %n = torch.constant.none
  %r = torch.aten.pad %x, %w, %m, %n : !torch.vtensor<[2,5],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[2,8],f32>
  return %r : !torch.vtensor<[2,8],f32>
}

// IREE lowers it.
// CHECK-LABEL: @reflected
// CHECK: torch.aten.pad
func.func @reflected(%x: !torch.vtensor<[2,5],f32>) -> !torch.vtensor<[2,8],f32> {
  %a = torch.constant.int 2
  %b = torch.constant.int 1
  %w = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %m = torch.constant.str "reflect"
  %n = torch.constant.none
  %r = torch.aten.pad %x, %w, %m, %n : !torch.vtensor<[2,5],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[2,8],f32>
  return %r : !torch.vtensor<[2,8],f32>
}

// CHECK-LABEL: @volume
// CHECK-NOT: reflection_pad3d
// CHECK: torch.aten.cat {{.*}} -> !torch.vtensor<[2,6,6,7],f32>
func.func @volume(%x: !torch.vtensor<[2,5,4,3],f32>) -> !torch.vtensor<[2,6,6,7],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %w = torch.prim.ListConstruct %two, %two, %one, %one, %zero, %one : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.reflection_pad3d %x, %w : !torch.vtensor<[2,5,4,3],f32>, !torch.list<int> -> !torch.vtensor<[2,6,6,7],f32>
  return %r : !torch.vtensor<[2,6,6,7],f32>
}
