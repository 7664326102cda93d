// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-resizes)' | FileCheck %s

// CHECK-LABEL: func.func @reflected
// CHECK:          torch.aten.matmul
// CHECK:          torch.aten.matmul
// CHECK-NOT:      reflection_pad2d_backward
func.func @reflected(%g: !torch.vtensor<[?,3,8,9],f32>, %x: !torch.vtensor<[?,3,5,6],f32>) -> !torch.vtensor<[?,3,5,6],f32> {
  %a = torch.constant.int 1
  %b = torch.constant.int 2
  %c = torch.constant.int 1
  %p = torch.prim.ListConstruct %c, %b, %b, %a : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.reflection_pad2d_backward"(%g, %x, %p) : (!torch.vtensor<[?,3,8,9],f32>, !torch.vtensor<[?,3,5,6],f32>, !torch.list<int>) -> !torch.vtensor<[?,3,5,6],f32>
  return %r : !torch.vtensor<[?,3,5,6],f32>
}

// A negative width takes elements away.
// CHECK-LABEL: func.func @silent
// CHECK:          reflection_pad2d_backward
func.func @silent(%g: !torch.vtensor<[?,3,8,9],f32>, %x: !torch.vtensor<[?,3,5,6],f32>) -> !torch.vtensor<[?,3,5,6],f32> {
  %a = torch.constant.int -1
  %b = torch.constant.int 2
  %c = torch.constant.int 1
  %p = torch.prim.ListConstruct %c, %b, %b, %a : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.reflection_pad2d_backward"(%g, %x, %p) : (!torch.vtensor<[?,3,8,9],f32>, !torch.vtensor<[?,3,5,6],f32>, !torch.list<int>) -> !torch.vtensor<[?,3,5,6],f32>
  return %r : !torch.vtensor<[?,3,5,6],f32>
}
