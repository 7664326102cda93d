// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-resize-floats)' | FileCheck %s

// CHECK-LABEL: func.func @weighted
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[1,3,4,4],f32>
// CHECK:         "onnx.Resize"{{.*}} -> !torch.vtensor<[1,3,16,16],f32>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[1,3,16,16],ui8>
func.func @weighted(%x: !torch.vtensor<[1,3,4,4],ui8>, %sizes: !torch.vtensor<[4],si64>) -> !torch.vtensor<[1,3,16,16],ui8> {
  %none = torch.constant.none
  %r = torch.operator "onnx.Resize"(%x, %none, %none, %sizes) {torch.onnx.mode = "linear"} : (!torch.vtensor<[1,3,4,4],ui8>, !torch.none, !torch.none, !torch.vtensor<[4],si64>) -> !torch.vtensor<[1,3,16,16],ui8>
  return %r : !torch.vtensor<[1,3,16,16],ui8>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     to.dtype
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[1,3,4,4],ui8>, %y: !torch.vtensor<[1,3,4,4],f32>, %sizes: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[1,3,16,16],ui8>, !torch.vtensor<[1,3,16,16],f32>) {
  %none = torch.constant.none
  %r = torch.operator "onnx.Resize"(%x, %none, %none, %sizes) {torch.onnx.mode = "nearest"} : (!torch.vtensor<[1,3,4,4],ui8>, !torch.none, !torch.none, !torch.vtensor<[4],si64>) -> !torch.vtensor<[1,3,16,16],ui8>
  %s = torch.operator "onnx.Resize"(%y, %none, %none, %sizes) {torch.onnx.mode = "linear"} : (!torch.vtensor<[1,3,4,4],f32>, !torch.none, !torch.none, !torch.vtensor<[4],si64>) -> !torch.vtensor<[1,3,16,16],f32>
  return %r, %s : !torch.vtensor<[1,3,16,16],ui8>, !torch.vtensor<[1,3,16,16],f32>
}
