// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-differentiate-pools)' | FileCheck %s

// CHECK-LABEL: func.func @adaptive
// CHECK:          torch.vtensor.literal
// CHECK:          torch.aten.matmul
// CHECK:          torch.aten.matmul
// CHECK-NOT:      adaptive_avg_pool2d_backward
func.func @adaptive(%g: !torch.vtensor<[?,3,2,2],f32>, %x: !torch.vtensor<[?,3,5,4],f32>) -> !torch.vtensor<[?,3,5,4],f32> {
  %r = torch.aten._adaptive_avg_pool2d_backward %g, %x : !torch.vtensor<[?,3,2,2],f32>, !torch.vtensor<[?,3,5,4],f32> -> !torch.vtensor<[?,3,5,4],f32>
  return %r : !torch.vtensor<[?,3,5,4],f32>
}

// The size of the image is not known.
// CHECK-LABEL: func.func @silent
// CHECK:          adaptive_avg_pool2d_backward
func.func @silent(%g: !torch.vtensor<[?,3,2,2],f32>, %x: !torch.vtensor<[?,3,?,4],f32>) -> !torch.vtensor<[?,3,?,4],f32> {
  %r = torch.aten._adaptive_avg_pool2d_backward %g, %x : !torch.vtensor<[?,3,2,2],f32>, !torch.vtensor<[?,3,?,4],f32> -> !torch.vtensor<[?,3,?,4],f32>
  return %r : !torch.vtensor<[?,3,?,4],f32>
}
