// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-place-slices)' | FileCheck %s

// CHECK-LABEL: func.func @selected
// CHECK:          torch.aten.full
// CHECK:          torch.aten.unsqueeze
// CHECK:          torch.aten.slice_scatter
// CHECK-NOT:      select_backward
func.func @selected(%g: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,3,8],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %three = torch.constant.int 3
  %eight = torch.constant.int 8
  %b = torch.aten.size.int %g, %zero : !torch.vtensor<[?,8],f32>, !torch.int -> !torch.int
  %s = torch.prim.ListConstruct %b, %three, %eight : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.select_backward"(%g, %s, %one, %one) : (!torch.vtensor<[?,8],f32>, !torch.list<int>, !torch.int, !torch.int) -> !torch.vtensor<[?,3,8],f32>
  return %r : !torch.vtensor<[?,3,8],f32>
}

// The position is not known.
// CHECK-LABEL: func.func @silent
// CHECK:          select_backward
func.func @silent(%g: !torch.vtensor<[?,8],f32>, %at: !torch.int) -> !torch.vtensor<[?,3,8],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %three = torch.constant.int 3
  %eight = torch.constant.int 8
  %b = torch.aten.size.int %g, %zero : !torch.vtensor<[?,8],f32>, !torch.int -> !torch.int
  %s = torch.prim.ListConstruct %b, %three, %eight : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.select_backward"(%g, %s, %one, %at) : (!torch.vtensor<[?,8],f32>, !torch.list<int>, !torch.int, !torch.int) -> !torch.vtensor<[?,3,8],f32>
  return %r : !torch.vtensor<[?,3,8],f32>
}
