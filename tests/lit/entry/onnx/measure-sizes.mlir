// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-measure-sizes)' | FileCheck %s

// CHECK-LABEL: func.func @average
// CHECK:         %[[X:.*]] = torch.aten.constant_pad_nd %arg0, {{.*}} -> !torch.vtensor<[1,2,?],f32>
// CHECK:         %[[A:.*]] = torch.operator "onnx.AveragePool"(%[[X]])
// CHECK-NOT:     auto_pad
// CHECK:         torch.aten.ones {{.*}} -> !torch.vtensor<[1,1,?],f32>
// CHECK:         %[[B:.*]] = torch.operator "onnx.AveragePool"
// CHECK:         torch.aten.div.Tensor %[[A]], %[[B]]
func.func @average(%x: !torch.vtensor<[1,2,?],f32>) -> !torch.vtensor<[1,2,?],f32> {
  %r = torch.operator "onnx.AveragePool"(%x) {torch.onnx.auto_pad = "SAME_LOWER", torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [2 : si64]}
    : (!torch.vtensor<[1,2,?],f32>) -> !torch.vtensor<[1,2,?],f32>
  return %r : !torch.vtensor<[1,2,?],f32>
}

// CHECK-LABEL: func.func @last
// CHECK:         %[[T:.*]] = torch.aten.flip %arg0
// CHECK:         %[[F:.*]] = torch.operator "onnx.ArgMax"(%[[T]])
// CHECK-NOT:     select_last_index
// CHECK:         torch.aten.rsub.Scalar %[[F]]
func.func @last(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,1],si64> {
  %r = torch.operator "onnx.ArgMax"(%x) {torch.onnx.axis = -1 : si64, torch.onnx.select_last_index = 1 : si64} : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,1],si64>
  return %r : !torch.vtensor<[2,1],si64>
}

// CHECK-LABEL: func.func @middle
// CHECK:         torch.aten.slice.Tensor
// CHECK:         torch.aten.constant_pad_nd
// CHECK:         torch.tensor_static_info_cast {{.*}} to !torch.vtensor<[2,5],f32>
func.func @middle(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,5],f32> {
  %to = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.CenterCropPad"(%x, %to) {torch.onnx.axes = [1 : si64]} : (!torch.vtensor<[2,?],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,5],f32>
  return %r : !torch.vtensor<[2,5],f32>
}

// A known size, an unknown size that the window does not move over, and borders of its own.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     constant_pad_nd
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?,2,8],f32>, %y: !torch.vtensor<[1,2,?],f32>) -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,2,?],f32>) {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.auto_pad = "SAME_UPPER", torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [2 : si64]}
    : (!torch.vtensor<[?,2,8],f32>) -> !torch.vtensor<[?,2,4],f32>
  %s = torch.operator "onnx.MaxPool"(%y) {torch.onnx.pads = [1 : si64, 1 : si64], torch.onnx.kernel_shape = [3 : si64]} : (!torch.vtensor<[1,2,?],f32>) -> !torch.vtensor<[1,2,?],f32>
  return %r, %s : !torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,2,?],f32>
}
