// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-losses)' | FileCheck %s

// CHECK-LABEL: func.func @squared
// CHECK:          torch.aten.sub.Tensor
// CHECK:          torch.aten.size.int
// CHECK:          torch.aten.div.Scalar
// CHECK-NOT:      mse_loss_backward
func.func @squared(%g: !torch.vtensor<[],f32>, %x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[?,7],f32>) -> !torch.vtensor<[?,7],f32> {
  %mean = torch.constant.int 1
  %r = torch.aten.mse_loss_backward %g, %x, %y, %mean : !torch.vtensor<[],f32>, !torch.vtensor<[?,7],f32>, !torch.vtensor<[?,7],f32>, !torch.int -> !torch.vtensor<[?,7],f32>
  return %r : !torch.vtensor<[?,7],f32>
}

// The target would be broadcast.
// CHECK-LABEL: func.func @silent
// CHECK:          mse_loss_backward
func.func @silent(%g: !torch.vtensor<[],f32>, %x: !torch.vtensor<[?,7],f32>, %y: !torch.vtensor<[7],f32>) -> !torch.vtensor<[?,7],f32> {
  %mean = torch.constant.int 1
  %r = torch.aten.mse_loss_backward %g, %x, %y, %mean : !torch.vtensor<[],f32>, !torch.vtensor<[?,7],f32>, !torch.vtensor<[7],f32>, !torch.int -> !torch.vtensor<[?,7],f32>
  return %r : !torch.vtensor<[?,7],f32>
}
