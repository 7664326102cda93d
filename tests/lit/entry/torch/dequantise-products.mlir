// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-dequantise-products)' | FileCheck %s

// CHECK-LABEL: func.func @batch
// CHECK:         %[[A:.*]] = torch.operator "onnx.DequantizeLinear"(%arg0, %arg2, %arg3) {{.*}} -> !torch.vtensor<[2,3,4],f32>
// CHECK:         %[[B:.*]] = torch.operator "onnx.DequantizeLinear"(%arg1, %arg2, %arg3) {{.*}} -> !torch.vtensor<[2,4,5],f32>
// CHECK:         %[[P:.*]] = torch.operator "onnx.MatMul"(%[[A]], %[[B]]) {{.*}} -> !torch.vtensor<[2,3,5],f32>
// CHECK:         torch.operator "onnx.QuantizeLinear"(%[[P]], %arg2, %arg3) {{.*}} -> !torch.vtensor<[2,3,5],si8>
func.func @batch(%a: !torch.vtensor<[2,3,4],si8>, %b: !torch.vtensor<[2,4,5],si8>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si8>)
    -> !torch.vtensor<[2,3,5],si8> {
  %r = torch.operator "onnx.QLinearMatMul"(%a, %s, %z, %b, %s, %z, %s, %z)
    : (!torch.vtensor<[2,3,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4,5],si8>, !torch.vtensor<[],f32>,
       !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,3,5],si8>
  return %r : !torch.vtensor<[2,3,5],si8>
}

// Each channel of the weights has a scale, and the bias their product with the image's.
// CHECK-LABEL: func.func @channels
// CHECK:         torch.operator "onnx.DequantizeLinear"(%arg1, %arg4, %arg5) {torch.onnx.axis = 0 : si64}
// CHECK:         %[[BIAS:.*]] = torch.operator "onnx.Cast"(%arg6) {torch.onnx.to = 1 : si64}
// CHECK:         %[[SCALES:.*]] = torch.operator "onnx.Mul"(%arg2, %arg4)
// CHECK:         %[[WIDE:.*]] = torch.operator "onnx.Mul"(%[[BIAS]], %[[SCALES]])
// CHECK:         torch.operator "onnx.Conv"({{.*}}, {{.*}}, %[[WIDE]]) {torch.onnx.pads = [0 : si64, 0 : si64, 1 : si64, 1 : si64]}
// CHECK:         torch.operator "onnx.QuantizeLinear"
func.func @channels(%x: !torch.vtensor<[1,2,5,5],si8>, %w: !torch.vtensor<[3,2,3,3],si8>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si8>,
    %ws: !torch.vtensor<[3],f32>, %wz: !torch.vtensor<[3],si8>, %b: !torch.vtensor<[3],si32>) -> !torch.vtensor<[1,3,4,4],si8> {
  %r = torch.operator "onnx.QLinearConv"(%x, %s, %z, %w, %ws, %wz, %s, %z, %b) {torch.onnx.pads = [0 : si64, 0 : si64, 1 : si64, 1 : si64]}
    : (!torch.vtensor<[1,2,5,5],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[3,2,3,3],si8>, !torch.vtensor<[3],f32>,
       !torch.vtensor<[3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[3],si32>) -> !torch.vtensor<[1,3,4,4],si8>
  return %r : !torch.vtensor<[1,3,4,4],si8>
}

// IREE has zero points for a product of two matrices.
// CHECK-LABEL: func.func @matrices
// CHECK:         torch.operator "onnx.QLinearMatMul"
func.func @matrices(%a: !torch.vtensor<[3,4],si8>, %b: !torch.vtensor<[4,5],si8>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si8>)
    -> !torch.vtensor<[3,5],si8> {
  %r = torch.operator "onnx.QLinearMatMul"(%a, %s, %z, %b, %s, %z, %s, %z)
    : (!torch.vtensor<[3,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[4,5],si8>, !torch.vtensor<[],f32>,
       !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[3,5],si8>
  return %r : !torch.vtensor<[3,5],si8>
}
