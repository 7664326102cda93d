// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-raise-integers)' | FileCheck %s

// CHECK-LABEL: func.func @cube
// CHECK:         %[[S:.*]] = torch.aten.mul.Tensor %arg0, %arg0
// CHECK:         torch.aten.mul.Tensor %arg0, %[[S]] : {{.*}} -> !torch.vtensor<[3,4],si32>
func.func @cube(%x: !torch.vtensor<[3,4],si32>) -> !torch.vtensor<[3,4],si32> {
  %p = torch.vtensor.literal(dense<3.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %r = torch.operator "onnx.Pow"(%x, %p) : (!torch.vtensor<[3,4],si32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[3,4],si32>
  return %r : !torch.vtensor<[3,4],si32>
}

// CHECK-LABEL: func.func @given
// CHECK:         torch.aten.pow.Tensor_Tensor {{.*}} -> !torch.vtensor<[3,4],f32>
// CHECK:         torch.aten.round
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[3,4],si32>
func.func @given(%x: !torch.vtensor<[3,4],si32>, %p: !torch.vtensor<[4],f32>) -> !torch.vtensor<[3,4],si32> {
  %r = torch.operator "onnx.Pow"(%x, %p) : (!torch.vtensor<[3,4],si32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[3,4],si32>
  return %r : !torch.vtensor<[3,4],si32>
}

// Floats, and an integer as exponent, which IREE lowers.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],si32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>) {
  %r = torch.operator "onnx.Pow"(%x, %y) : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],f32>
  %s = torch.operator "onnx.Pow"(%y, %y) : (!torch.vtensor<[4],si32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si32>
  return %r, %s : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>
}
