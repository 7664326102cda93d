// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-activations)' | FileCheck %s

// CHECK-LABEL: func.func @leaky
// CHECK:          torch.aten.gt.Scalar %arg1
// CHECK:          torch.aten.where.self
// CHECK-NOT:      leaky_relu_backward
func.func @leaky(%g: !torch.vtensor<[?,8],f32>, %x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %s = torch.constant.float 0.2
  %no = torch.constant.bool false
  %r = torch.aten.leaky_relu_backward %g, %x, %s, %no : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>, !torch.float, !torch.bool -> !torch.vtensor<[?,8],f32>
  return %r : !torch.vtensor<[?,8],f32>
}

// CHECK-LABEL: func.func @clamp
// CHECK:          torch.aten.gt.Scalar %arg1
// CHECK:          torch.aten.lt.Scalar %arg1
// CHECK-NOT:      hardtanh_backward
func.func @clamp(%g: !torch.vtensor<[?,8],f32>, %x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %l = torch.constant.float 0.0
  %m = torch.constant.float 6.0
  %r = torch.aten.hardtanh_backward %g, %x, %l, %m : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>, !torch.float, !torch.float -> !torch.vtensor<[?,8],f32>
  return %r : !torch.vtensor<[?,8],f32>
}

// Double precision was not tried.
// CHECK-LABEL: func.func @silent
// CHECK:          torch.aten.leaky_relu_backward
func.func @silent(%g: !torch.vtensor<[?,8],f64>, %x: !torch.vtensor<[?,8],f64>) -> !torch.vtensor<[?,8],f64> {
  %s = torch.constant.float 0.2
  %no = torch.constant.bool false
  %r = torch.aten.leaky_relu_backward %g, %x, %s, %no : !torch.vtensor<[?,8],f64>, !torch.vtensor<[?,8],f64>, !torch.float, !torch.bool -> !torch.vtensor<[?,8],f64>
  return %r : !torch.vtensor<[?,8],f64>
}
