// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-slice-parts)' | FileCheck %s

// CHECK-LABEL: func.func @parts
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[2,3],f32>
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[2,4],f32>
func.func @parts(%x: !torch.vtensor<[2,7],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,4],f32>) {
  %r:2 = torch.operator "onnx.Split"(%x) {torch.onnx.axis = -1 : si64, torch.onnx.split = [3 : si64, 4 : si64]} : (!torch.vtensor<[2,7],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,4],f32>)
  return %r#0, %r#1 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,4],f32>
}

// Sizes that are an operand, as from opset 13 on.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.Split"
func.func @silent(%x: !torch.vtensor<[2,7],f32>, %s: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32>) {
  %r:2 = torch.operator "onnx.Split"(%x, %s) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[2,7],f32>, !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32>)
  return %r#0, %r#1 : !torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32>
}
