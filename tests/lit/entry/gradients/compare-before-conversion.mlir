// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-compare-before-conversion)' | FileCheck %s

// CHECK-LABEL: func.func @mixed
// CHECK:         %[[BELOW:.*]] = torch.aten.le.Scalar %arg1
// CHECK:         torch.aten.where.self %[[BELOW]], {{.*}}, %arg0
func.func @mixed(%g: !torch.vtensor<[?],si64>, %x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],si64> {
  %half = torch.constant.float 5.000000e-01
  %r = torch.aten.threshold_backward %g, %x, %half : !torch.vtensor<[?],si64>, !torch.vtensor<[?],f32>, !torch.float -> !torch.vtensor<[?],si64>
  return %r : !torch.vtensor<[?],si64>
}

// CHECK-LABEL: func.func @silent
// CHECK:         torch.aten.threshold_backward
// CHECK:         return
func.func @silent(%g: !torch.vtensor<[?],f32>, %x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %half = torch.constant.float 5.000000e-01
  %r = torch.aten.threshold_backward %g, %x, %half : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.float -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
