// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-wrap-pads)' | FileCheck %s

// CHECK-LABEL: func.func @wrapped
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[2],f32>
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[1],f32>
// CHECK:         torch.aten.cat {{.*}} -> !torch.vtensor<[7],f32>
// CHECK-NOT:     onnx.Pad
func.func @wrapped(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[7],f32> {
  %w = torch.vtensor.literal(dense<[2,1]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %r = torch.operator "onnx.Pad"(%x, %w) {torch.onnx.mode = "wrap"} : (!torch.vtensor<[4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[7],f32>
  return %r : !torch.vtensor<[7],f32>
}

// Another mode, and a size that is not known.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten.cat
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[?],f32>) -> (!torch.vtensor<[7],f32>, !torch.vtensor<[?],f32>) {
  %w = torch.vtensor.literal(dense<[2,1]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %r = torch.operator "onnx.Pad"(%x, %w) {torch.onnx.mode = "edge"} : (!torch.vtensor<[4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[7],f32>
  %s = torch.operator "onnx.Pad"(%y, %w) {torch.onnx.mode = "wrap"} : (!torch.vtensor<[?],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?],f32>
  return %r, %s : !torch.vtensor<[7],f32>, !torch.vtensor<[?],f32>
}

// Mirrored along two dimensions, which IREE rejects.
// CHECK-LABEL: func.func @mirrored
// CHECK-COUNT-2: torch.aten.flip
// CHECK:         return
func.func @mirrored(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,4,5],f32> {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0, 1, 0, 0, 0, 1]> : tensor<6xsi64>} : () -> !torch.vtensor<[6],si64>
  %r = torch.operator "onnx.Pad"(%x, %w) {torch.onnx.mode = "reflect"} : (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[6],si64>) -> !torch.vtensor<[2,4,5],f32>
  return %r : !torch.vtensor<[2,4,5],f32>
}
