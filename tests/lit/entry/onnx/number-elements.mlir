// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-number-elements)' | FileCheck %s

// Uneven borders: padded first, then the numbers of the elements without them.
// CHECK-LABEL: func.func @places
// CHECK:         torch.aten.constant_pad_nd {{.*}} -> !torch.vtensor<[2,3,5,4],f32>
// CHECK:         torch.aten.max_pool2d_with_indices
// CHECK:         torch.aten.index_select
// CHECK:         torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[2,3,4,3],si64>
func.func @places(%x: !torch.vtensor<[2,3,4,4],f32>) -> (!torch.vtensor<[2,3,4,3],f32>, !torch.vtensor<[2,3,4,3],si64>) {
  %r:2 = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.pads = [1 : si64, 0 : si64, 0 : si64, 0 : si64]}
    : (!torch.vtensor<[2,3,4,4],f32>) -> (!torch.vtensor<[2,3,4,3],f32>, !torch.vtensor<[2,3,4,3],si64>)
  return %r#0, %r#1 : !torch.vtensor<[2,3,4,3],f32>, !torch.vtensor<[2,3,4,3],si64>
}

// No indices.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.MaxPool"
func.func @silent(%x: !torch.vtensor<[2,3,4,4],f32>) -> !torch.vtensor<[2,3,3,3],f32> {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [2 : si64, 2 : si64]} : (!torch.vtensor<[2,3,4,4],f32>) -> !torch.vtensor<[2,3,3,3],f32>
  return %r : !torch.vtensor<[2,3,3,3],f32>
}
