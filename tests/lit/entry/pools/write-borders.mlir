// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-borders)' 2>/dev/null | FileCheck %s

// A window of 4 elements: one zero before, two behind.
// CHECK-LABEL: @even_window
// CHECK:         torch.aten.constant_pad_nd {{.*}} -> !torch.vtensor<[1,2,11],f32>
// CHECK:         torch.aten.convolution {{.*}} -> !torch.vtensor<[1,3,8],f32>
func.func @even_window(%x: !torch.vtensor<[1,2,8],f32>, %w: !torch.vtensor<[3,2,4],f32>) -> !torch.vtensor<[1,3,8],f32> {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %ones = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %same = torch.constant.str "same"
  %r = torch.aten.conv1d.padding %x, %w, %none, %ones, %same, %ones, %one : !torch.vtensor<[1,2,8],f32>, !torch.vtensor<[3,2,4],f32>, !torch.none, !torch.list<int>, !torch.str, !torch.list<int>, !torch.int -> !torch.vtensor<[1,3,8],f32>
  return %r : !torch.vtensor<[1,3,8],f32>
}

// Two elements are taken away in front, three are repeated behind.
// CHECK-LABEL: @cropped
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[1,2,?],f32>
// CHECK:         torch.aten.pad
func.func @cropped(%x: !torch.vtensor<[1,2,?],f32>) -> !torch.vtensor<[1,2,?],f32> {
  %none = torch.constant.none
  %low = torch.constant.int -2
  %high = torch.constant.int 3
  %widths = torch.prim.ListConstruct %low, %high : (!torch.int, !torch.int) -> !torch.list<int>
  %mode = torch.constant.str "replicate"
  %r = torch.aten.pad %x, %widths, %mode, %none : !torch.vtensor<[1,2,?],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,?],f32>
  return %r : !torch.vtensor<[1,2,?],f32>
}

// A window of an odd size IREE pads rightly; the second pad only adds elements.
// CHECK-LABEL: @silent
// CHECK-NOT:     aten.slice
// CHECK:         torch.aten.conv1d.padding
// CHECK:         torch.aten.pad
// CHECK-NOT:     constant_pad_nd
func.func @silent(%x: !torch.vtensor<[1,2,8],f32>, %w: !torch.vtensor<[3,2,3],f32>) -> (!torch.vtensor<[1,3,8],f32>, !torch.vtensor<[1,2,10],f32>) {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %ones = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %same = torch.constant.str "same"
  %mode = torch.constant.str "replicate"
  %widths = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.conv1d.padding %x, %w, %none, %ones, %same, %ones, %one : !torch.vtensor<[1,2,8],f32>, !torch.vtensor<[3,2,3],f32>, !torch.none, !torch.list<int>, !torch.str, !torch.list<int>, !torch.int -> !torch.vtensor<[1,3,8],f32>
  %p = torch.aten.pad %x, %widths, %mode, %none : !torch.vtensor<[1,2,8],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,10],f32>
  return %r, %p : !torch.vtensor<[1,3,8],f32>, !torch.vtensor<[1,2,10],f32>
}
