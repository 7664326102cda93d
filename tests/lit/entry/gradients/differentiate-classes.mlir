// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-classes)' | FileCheck %s

// CHECK-LABEL: func.func @pixels
// CHECK:          torch.aten.eq.Tensor
// CHECK:          torch.aten.where.ScalarOther
// CHECK-NOT:      nll_loss2d_backward
func.func @pixels(%g: !torch.vtensor<[],f32>, %x: !torch.vtensor<[?,5,6,6],f32>, %t: !torch.vtensor<[?,6,6],si64>, %w: !torch.vtensor<[],f32>) -> !torch.vtensor<[?,5,6,6],f32> {
  %no = torch.constant.none
  %mean = torch.constant.int 1
  %i = torch.constant.int -100
  %r = torch.aten.nll_loss2d_backward %g, %x, %t, %no, %mean, %i, %w : !torch.vtensor<[],f32>, !torch.vtensor<[?,5,6,6],f32>, !torch.vtensor<[?,6,6],si64>, !torch.none, !torch.int, !torch.int, !torch.vtensor<[],f32> -> !torch.vtensor<[?,5,6,6],f32>
  return %r : !torch.vtensor<[?,5,6,6],f32>
}

// The number of classes is not known.
// CHECK-LABEL: func.func @silent
// CHECK:          nll_loss2d_backward
func.func @silent(%g: !torch.vtensor<[],f32>, %x: !torch.vtensor<[?,?,6,6],f32>, %t: !torch.vtensor<[?,6,6],si64>, %w: !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,6,6],f32> {
  %no = torch.constant.none
  %mean = torch.constant.int 1
  %i = torch.constant.int -100
  %r = torch.aten.nll_loss2d_backward %g, %x, %t, %no, %mean, %i, %w : !torch.vtensor<[],f32>, !torch.vtensor<[?,?,6,6],f32>, !torch.vtensor<[?,6,6],si64>, !torch.none, !torch.int, !torch.int, !torch.vtensor<[],f32> -> !torch.vtensor<[?,?,6,6],f32>
  return %r : !torch.vtensor<[?,?,6,6],f32>
}
