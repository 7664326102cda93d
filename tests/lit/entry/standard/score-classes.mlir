// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-score-classes)' | FileCheck %s

// The target class of each row is gathered, weighted, and what is ignored counts as nothing.
// CHECK-LABEL: func.func @weighted
// CHECK:         %[[L:.*]] = torch.aten.log_softmax.int %arg0
// CHECK:         %[[C:.*]] = torch.aten.ne.Scalar
// CHECK:         torch.aten.gather %[[L]]
// CHECK:         torch.aten.index.Tensor %arg2
// CHECK:         torch.aten.where.ScalarOther %[[C]]
// CHECK:         %[[R:.*]] = torch.aten.div.Tensor {{.*}} -> !torch.vtensor<[],f32>
// CHECK:         return %[[R]], %[[L]]
func.func @weighted(%x: !torch.vtensor<[?,4,3],f32>, %t: !torch.vtensor<[?,3],si64>, %w: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[?,4,3],f32>) {
  %r:2 = torch.operator "onnx.SoftmaxCrossEntropyLoss"(%x, %t, %w) {torch.onnx.ignore_index = 1 : si64, torch.onnx.reduction = "mean"} : (!torch.vtensor<[?,4,3],f32>, !torch.vtensor<[?,3],si64>, !torch.vtensor<[4],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[?,4,3],f32>)
  return %r#0, %r#1 : !torch.vtensor<[],f32>, !torch.vtensor<[?,4,3],f32>
}

// CHECK-LABEL: func.func @each
// CHECK-NOT:     log_softmax
// CHECK:         torch.aten.to.dtype %arg1
// CHECK:         torch.aten.gather %arg0
func.func @each(%x: !torch.vtensor<[?,4],f32>, %t: !torch.vtensor<[?],si32>) -> !torch.vtensor<[?],f32> {
  %r = torch.operator "onnx.NegativeLogLikelihoodLoss"(%x, %t) {torch.onnx.reduction = "none"} : (!torch.vtensor<[?,4],f32>, !torch.vtensor<[?],si32>) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// Plain losses of rows, which IREE lowers, and scores of another element type.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,5,4],f64>, %y: !torch.vtensor<[5,4],f32>, %t: !torch.vtensor<[2,4],si64>, %u: !torch.vtensor<[5],si64>) -> (!torch.vtensor<[],f64>, !torch.vtensor<[],f32>) {
  %r = torch.operator "onnx.NegativeLogLikelihoodLoss"(%x, %t) : (!torch.vtensor<[2,5,4],f64>, !torch.vtensor<[2,4],si64>) -> !torch.vtensor<[],f64>
  %s = torch.operator "onnx.SoftmaxCrossEntropyLoss"(%y, %u) : (!torch.vtensor<[5,4],f32>, !torch.vtensor<[5],si64>) -> !torch.vtensor<[],f32>
  return %r, %s : !torch.vtensor<[],f64>, !torch.vtensor<[],f32>
}
