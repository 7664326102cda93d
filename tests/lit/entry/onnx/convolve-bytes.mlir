// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-convolve-bytes)' | FileCheck %s

// The border is the zero point, and the convolution one of two dimensions.
// CHECK-LABEL: func.func @bordered
// CHECK:         %[[ZERO:.*]] = torch.operator "onnx.Constant"
// CHECK:         torch.operator "onnx.Pad"(%{{.*}}, %{{.*}}, %[[ZERO]]) {{.*}} -> !torch.vtensor<[1,2,8],ui8>
// CHECK:         torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[1,2,1,8],ui8>
// CHECK:         "onnx.ConvInteger"{{.*}} {torch.onnx.dilations = [1 : si64, 1 : si64], torch.onnx.group = 1 : si64, torch.onnx.kernel_shape = [1 : si64, 3 : si64], torch.onnx.strides = [1 : si64, 1 : si64]} {{.*}} -> !torch.vtensor<[1,4,1,6],si32>
// CHECK:         torch.aten.squeeze.dim {{.*}} -> !torch.vtensor<[1,4,6],si32>
func.func @bordered(%x: !torch.vtensor<[1,2,6],ui8>, %w: !torch.vtensor<[4,2,3],si8>) -> !torch.vtensor<[1,4,6],si32> {
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<7> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %r = torch.operator "onnx.ConvInteger"(%x, %w, %z) {torch.onnx.pads = [1 : si64, 1 : si64]} : (!torch.vtensor<[1,2,6],ui8>, !torch.vtensor<[4,2,3],si8>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,4,6],si32>
  return %r : !torch.vtensor<[1,4,6],si32>
}

// CHECK-LABEL: func.func @volumes
// CHECK-COUNT-2: "onnx.ConvInteger"{{.*}} -> !torch.vtensor<[1,2,2,3,4],si32>
// CHECK:         torch.aten.cat
func.func @volumes(%x: !torch.vtensor<[1,4,4,5,6],ui8>, %w: !torch.vtensor<[4,2,3,3,3],si8>) -> !torch.vtensor<[1,4,2,3,4],si32> {
  %r = torch.operator "onnx.ConvInteger"(%x, %w) {torch.onnx.group = 2 : si64} : (!torch.vtensor<[1,4,4,5,6],ui8>, !torch.vtensor<[4,2,3,3,3],si8>) -> !torch.vtensor<[1,4,2,3,4],si32>
  return %r : !torch.vtensor<[1,4,2,3,4],si32>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[1,2,6,5],ui8>, %w: !torch.vtensor<[4,2,3,2],si8>) -> !torch.vtensor<[1,4,4,4],si32> {
  %r = torch.operator "onnx.ConvInteger"(%x, %w) {torch.onnx.pads = [0 : si64, 0 : si64, 0 : si64, 0 : si64]} : (!torch.vtensor<[1,2,6,5],ui8>, !torch.vtensor<[4,2,3,2],si8>) -> !torch.vtensor<[1,4,4,4],si32>
  return %r : !torch.vtensor<[1,4,4,4],si32>
}
