// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-crop-transposed)' | FileCheck %s

// CHECK-LABEL: func.func @uneven
// CHECK:         "onnx.ConvTranspose"(%{{.*}}, %{{.*}}) {torch.onnx.group = 2 : si64} {{.*}} -> !torch.vtensor<[1,6,9,10],f32>
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[1,6,8,10],f32>
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[1,6,8,7],f32>
func.func @uneven(%x: !torch.vtensor<[1,8,7,8],f32>, %w: !torch.vtensor<[8,3,3,3],f32>) -> !torch.vtensor<[1,6,8,7],f32> {
  %r = torch.operator "onnx.ConvTranspose"(%x, %w) {torch.onnx.group = 2 : si64, torch.onnx.pads = [1 : si64, 1 : si64, 0 : si64, 2 : si64]} : (!torch.vtensor<[1,8,7,8],f32>, !torch.vtensor<[8,3,3,3],f32>) -> !torch.vtensor<[1,6,8,7],f32>
  return %r : !torch.vtensor<[1,6,8,7],f32>
}

// CHECK-LABEL: func.func @channels
// CHECK-COUNT-2: "onnx.ConvTranspose"
// CHECK:         torch.aten.cat
func.func @channels(%x: !torch.vtensor<[1,2,7],f32>, %w: !torch.vtensor<[2,1,3],f32>) -> !torch.vtensor<[1,2,9],f32> {
  %r = torch.operator "onnx.ConvTranspose"(%x, %w) {torch.onnx.group = 2 : si64} : (!torch.vtensor<[1,2,7],f32>, !torch.vtensor<[2,1,3],f32>) -> !torch.vtensor<[1,2,9],f32>
  return %r : !torch.vtensor<[1,2,9],f32>
}

// The same pads on both sides, with groups of several channels.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten.slice
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[1,8,7,8],f32>, %w: !torch.vtensor<[8,3,3,3],f32>) -> !torch.vtensor<[1,6,7,8],f32> {
  %r = torch.operator "onnx.ConvTranspose"(%x, %w) {torch.onnx.group = 2 : si64, torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,8,7,8],f32>, !torch.vtensor<[8,3,3,3],f32>) -> !torch.vtensor<[1,6,7,8],f32>
  return %r : !torch.vtensor<[1,6,7,8],f32>
}
