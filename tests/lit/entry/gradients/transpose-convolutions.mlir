// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-transpose-convolutions)' | FileCheck %s

// CHECK-LABEL: func.func @transposed
// CHECK:          torch.aten.convolution 
// CHECK:          torch.aten.convolution_backward %arg1, %arg0
// CHECK:          torch.aten.sum.dim_IntList
func.func @transposed(%g: !torch.vtensor<[?,6,7,7],f32>, %x: !torch.vtensor<[?,4,5,5],f32>, %w: !torch.vtensor<[4,6,3,3],f32>) -> (!torch.vtensor<[?,4,5,5],f32>, !torch.vtensor<[4,6,3,3],f32>, !torch.vtensor<[6],f32>) {
  %one = torch.constant.int 1
  %none = torch.constant.none
  %t = torch.constant.bool true
  %yes = torch.constant.bool true
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %zero = torch.constant.int 0
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %all = torch.prim.ListConstruct %yes, %yes, %yes : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %r:3 = torch.aten.convolution_backward %g, %x, %w, %none, %ones, %zeros, %ones, %t, %zeros, %one, %all : !torch.vtensor<[?,6,7,7],f32>, !torch.vtensor<[?,4,5,5],f32>, !torch.vtensor<[4,6,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !torch.vtensor<[?,4,5,5],f32>, !torch.vtensor<[4,6,3,3],f32>, !torch.vtensor<[6],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,4,5,5],f32>, !torch.vtensor<[4,6,3,3],f32>, !torch.vtensor<[6],f32>
}

// IREE lowers the gradient of a plain convolution.
// CHECK-LABEL: func.func @silent
// CHECK:          torch.aten.convolution_backward %arg0, %arg1
// CHECK-NOT:      torch.aten.convolution 
func.func @silent(%g: !torch.vtensor<[?,6,7,7],f32>, %x: !torch.vtensor<[?,4,9,9],f32>, %w: !torch.vtensor<[6,4,3,3],f32>) -> (!torch.vtensor<[?,4,9,9],f32>, !torch.vtensor<[6,4,3,3],f32>, !torch.vtensor<[6],f32>) {
  %one = torch.constant.int 1
  %none = torch.constant.none
  %t = torch.constant.bool false
  %yes = torch.constant.bool true
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %zero = torch.constant.int 0
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %all = torch.prim.ListConstruct %yes, %yes, %yes : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %r:3 = torch.aten.convolution_backward %g, %x, %w, %none, %ones, %zeros, %ones, %t, %zeros, %one, %all : !torch.vtensor<[?,6,7,7],f32>, !torch.vtensor<[?,4,9,9],f32>, !torch.vtensor<[6,4,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !torch.vtensor<[?,4,9,9],f32>, !torch.vtensor<[6,4,3,3],f32>, !torch.vtensor<[6],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,4,9,9],f32>, !torch.vtensor<[6,4,3,3],f32>, !torch.vtensor<[6],f32>
}
