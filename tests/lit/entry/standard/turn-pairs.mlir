// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-turn-pairs)' | FileCheck %s

// CHECK-LABEL: func.func @halves
// CHECK:         torch.aten.unsqueeze %arg1, {{.*}} -> !torch.vtensor<[2,1,5,4],f32>
// CHECK:         %[[P:.*]] = torch.aten.unflatten.int %arg0, {{.*}} -> !torch.vtensor<[2,3,5,2,4],f32>
// CHECK:         torch.aten.select.int %[[P]]
// CHECK:         torch.aten.sub.Tensor
// CHECK:         torch.aten.add.Tensor
func.func @halves(%x: !torch.vtensor<[2,3,5,8],f32>, %c: !torch.vtensor<[2,5,4],f32>, %s: !torch.vtensor<[2,5,4],f32>) -> !torch.vtensor<[2,3,5,8],f32> {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %c, %s) : (!torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[2,5,4],f32>, !torch.vtensor<[2,5,4],f32>) -> !torch.vtensor<[2,3,5,8],f32>
  return %r : !torch.vtensor<[2,3,5,8],f32>
}

// Heads side by side, of which a part is turned by the angles of given positions.
// CHECK-LABEL: func.func @part
// CHECK:         %[[A:.*]] = torch.aten.unflatten.int %arg0, {{.*}} -> !torch.vtensor<[?,5,3,8],f32>
// CHECK:         %[[F:.*]] = torch.aten.slice.Tensor %[[A]], {{.*}} -> !torch.vtensor<[?,5,3,4],f32>
// CHECK:         torch.aten.embedding %arg1, %arg3
// CHECK:         torch.aten.unflatten.int %[[F]], {{.*}} -> !torch.vtensor<[?,5,3,2,2],f32>
// CHECK:         torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[?,5,24],f32>
func.func @part(%x: !torch.vtensor<[?,5,24],f32>, %c: !torch.vtensor<[7,2],f32>, %s: !torch.vtensor<[7,2],f32>, %p: !torch.vtensor<[?,5],si64>) -> !torch.vtensor<[?,5,24],f32> {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %c, %s, %p) {torch.onnx.interleaved = 1 : si64, torch.onnx.num_heads = 3 : si64, torch.onnx.rotary_embedding_dim = 4 : si64} : (!torch.vtensor<[?,5,24],f32>, !torch.vtensor<[7,2],f32>, !torch.vtensor<[7,2],f32>, !torch.vtensor<[?,5],si64>) -> !torch.vtensor<[?,5,24],f32>
  return %r : !torch.vtensor<[?,5,24],f32>
}

// ONNX Runtime's own op, whose second operand are the positions.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,3,5,8],f32>, %p: !torch.vtensor<[2,5],si64>, %c: !torch.vtensor<[7,4],f32>) -> !torch.vtensor<[2,3,5,8],f32> {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %p, %c, %c) : (!torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[2,5],si64>, !torch.vtensor<[7,4],f32>, !torch.vtensor<[7,4],f32>) -> !torch.vtensor<[2,3,5,8],f32>
  return %r : !torch.vtensor<[2,3,5,8],f32>
}
