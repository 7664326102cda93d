// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-dims)' | FileCheck %s

// CHECK-LABEL: func.func @extremes
// CHECK:         torch.aten.amax %arg0, {{.*}} -> !torch.vtensor<[?,4],f32>
// CHECK:         torch.aten.amin %arg0, {{.*}} -> !torch.vtensor<[?,1,4],f32>
func.func @extremes(%x: !torch.vtensor<[?,3,4],f32>) -> (!torch.vtensor<[?,4],f32>, !torch.vtensor<[?,1,4],f32>) attributes {torch.onnx_meta.opset_version = 11 : si64} {
  %r = torch.operator "onnx.ReduceMax"(%x) {torch.onnx.axes = [-2 : si64], torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[?,3,4],f32>) -> !torch.vtensor<[?,4],f32>
  %s = torch.operator "onnx.ReduceMin"(%x) {torch.onnx.axes = [1 : si64]} : (!torch.vtensor<[?,3,4],f32>) -> !torch.vtensor<[?,1,4],f32>
  return %r, %s : !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,1,4],f32>
}

// One axis after the other, the last one first.
// CHECK-LABEL: func.func @product
// CHECK:         %[[P:.*]] = torch.aten.prod.dim_int %arg0, {{.*}} -> !torch.vtensor<[2,3],f32>
// CHECK:         torch.aten.prod.dim_int %[[P]], {{.*}} -> !torch.vtensor<[3],f32>
func.func @product(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[3],f32> attributes {torch.onnx_meta.opset_version = 11 : si64} {
  %r = torch.operator "onnx.ReduceProd"(%x) {torch.onnx.axes = [0 : si64, -1 : si64], torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[3],f32>
  return %r : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @mean
// CHECK:         %[[S:.*]] = torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[2,1,4],si64>
// CHECK:         torch.aten.div.Tensor_mode %[[S]]
func.func @mean(%x: !torch.vtensor<[2,3,4],si32>) -> !torch.vtensor<[2,1,4],si32> {
  %a = torch.vtensor.literal(dense<1> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.ReduceMean"(%x, %a) : (!torch.vtensor<[2,3,4],si32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,1,4],si32>
  return %r : !torch.vtensor<[2,1,4],si32>
}

// CHECK-LABEL: func.func @each
// CHECK:         torch.aten.abs %arg0
func.func @each(%x: !torch.vtensor<[2,3],f32>, %a: !torch.vtensor<[0],si64>) -> !torch.vtensor<[2,3],f32> {
  %r = torch.operator "onnx.ReduceL2"(%x, %a) {torch.onnx.noop_with_empty_axes = 1 : si64} : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[0],si64>) -> !torch.vtensor<[2,3],f32>
  return %r : !torch.vtensor<[2,3],f32>
}

// Opset 13 or later, means of floats, and no axes that stand for all of them: IREE lowers these.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,3],f32>, %a: !torch.vtensor<[1],si64>) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>, !torch.vtensor<[1,1],f32>, !torch.vtensor<[1,1],f32>) attributes {torch.onnx_meta.opset_version = 13 : si64} {
  %r = torch.operator "onnx.ReduceMax"(%x, %a) {torch.onnx.noop_with_empty_axes = 1 : si64} : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,1],f32>
  %s = torch.operator "onnx.ReduceMean"(%x) {torch.onnx.axes = [1 : si64]} : (!torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,1],f32>
  %t = torch.operator "onnx.ReduceMin"(%x) {torch.onnx.axes = [0 : si64, 1 : si64]} : (!torch.vtensor<[2,3],f32>) -> !torch.vtensor<[1,1],f32>
  %u = torch.operator "onnx.ReduceL2"(%x) : (!torch.vtensor<[2,3],f32>) -> !torch.vtensor<[1,1],f32>
  return %r, %s, %t, %u : !torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>, !torch.vtensor<[1,1],f32>, !torch.vtensor<[1,1],f32>
}
