// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scale-roots)' | FileCheck %s

// The mean of the squares is computed in 32 bits.
// CHECK-LABEL: func.func @halves
// CHECK:         %[[W:.*]] = torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[2,3,4],f32>
// CHECK:         %[[M:.*]] = torch.aten.mean.dim {{.*}} -> !torch.vtensor<[2,1,1],f32>
// CHECK:         %[[R:.*]] = torch.aten.rsqrt
// CHECK:         torch.aten.mul.Tensor %[[W]], %[[R]]
func.func @halves(%x: !torch.vtensor<[2,3,4],f16>, %s: !torch.vtensor<[3,4],f16>) -> !torch.vtensor<[2,3,4],f16> {
  %r = torch.operator "onnx.RMSNormalization"(%x, %s) {torch.onnx.axis = 1 : si64, torch.onnx.epsilon = 0.01 : f32} : (!torch.vtensor<[2,3,4],f16>, !torch.vtensor<[3,4],f16>) -> !torch.vtensor<[2,3,4],f16>
  return %r : !torch.vtensor<[2,3,4],f16>
}

// A mean that is computed in another type than 32 bits.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,4],f16>, %s: !torch.vtensor<[4],f16>) -> !torch.vtensor<[2,4],f16> {
  %r = torch.operator "onnx.RMSNormalization"(%x, %s) {torch.onnx.stash_type = 10 : si64} : (!torch.vtensor<[2,4],f16>, !torch.vtensor<[4],f16>) -> !torch.vtensor<[2,4],f16>
  return %r : !torch.vtensor<[2,4],f16>
}
