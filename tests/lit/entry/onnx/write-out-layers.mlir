// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-out-layers)' | FileCheck %s

// Two steps that run backwards, one after the other.
// CHECK-LABEL: func.func @backwards
// CHECK-NOT:     onnx.RNN
// CHECK:         torch.aten.linear {{.*}} -> !torch.vtensor<[2,1,4],f32>
// CHECK-COUNT-2: torch.aten.tanh {{.*}} -> !torch.vtensor<[1,4],f32>
// CHECK:         return
func.func @backwards(%x: !torch.vtensor<[2,1,3],f32>, %w: !torch.vtensor<[1,4,3],f32>, %r: !torch.vtensor<[1,4,4],f32>) -> !torch.vtensor<[2,1,1,4],f32> {
  %y:2 = torch.operator "onnx.RNN"(%x, %w, %r) {torch.onnx.direction = "reverse", torch.onnx.hidden_size = 4 : si64}
    : (!torch.vtensor<[2,1,3],f32>, !torch.vtensor<[1,4,3],f32>, !torch.vtensor<[1,4,4],f32>) -> (!torch.vtensor<[2,1,1,4],f32>, !torch.vtensor<[1,1,4],f32>)
  return %y#0 : !torch.vtensor<[2,1,1,4],f32>
}

// An unknown number of steps and lengths of their own: a loop, in which a sequence that has ended keeps its state.
// CHECK-LABEL: func.func @lengths
// CHECK:         torch.prim.Loop
// CHECK:           torch.aten.gt.Scalar
// CHECK:           torch.aten.where.self
// CHECK:         return
func.func @lengths(%x: !torch.vtensor<[?,2,3],f32>, %w: !torch.vtensor<[1,12,3],f32>, %r: !torch.vtensor<[1,12,4],f32>, %n: !torch.vtensor<[2],si32>) -> !torch.vtensor<[?,1,2,4],f32> {
  %none = torch.constant.none
  %y:2 = torch.operator "onnx.GRU"(%x, %w, %r, %none, %n) {torch.onnx.hidden_size = 4 : si64}
    : (!torch.vtensor<[?,2,3],f32>, !torch.vtensor<[1,12,3],f32>, !torch.vtensor<[1,12,4],f32>, !torch.none, !torch.vtensor<[2],si32>) -> (!torch.vtensor<[?,1,2,4],f32>, !torch.vtensor<[1,2,4],f32>)
  return %y#0 : !torch.vtensor<[?,1,2,4],f32>
}

// A form that IREE has, and sizes that do not agree.
// CHECK-LABEL: func.func @silent
// CHECK-COUNT-2: onnx.LSTM
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,1,3],f32>, %w: !torch.vtensor<[1,16,3],f32>, %r: !torch.vtensor<[1,16,4],f32>, %s: !torch.vtensor<[1,12,4],f32>) -> (!torch.vtensor<[2,1,1,4],f32>, !torch.vtensor<[2,1,1,4],f32>) {
  %y = torch.operator "onnx.LSTM"(%x, %w, %r) {torch.onnx.hidden_size = 4 : si64}
    : (!torch.vtensor<[2,1,3],f32>, !torch.vtensor<[1,16,3],f32>, !torch.vtensor<[1,16,4],f32>) -> !torch.vtensor<[2,1,1,4],f32>
  %z = torch.operator "onnx.LSTM"(%x, %w, %s) {torch.onnx.direction = "reverse", torch.onnx.hidden_size = 4 : si64}
    : (!torch.vtensor<[2,1,3],f32>, !torch.vtensor<[1,16,3],f32>, !torch.vtensor<[1,12,4],f32>) -> !torch.vtensor<[2,1,1,4],f32>
  return %y, %z : !torch.vtensor<[2,1,1,4],f32>, !torch.vtensor<[2,1,1,4],f32>
}
