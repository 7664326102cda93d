// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-turn-heads)' | FileCheck %s

// CHECK-LABEL: func.func @together
// CHECK:         %[[A:.*]] = torch.aten.unflatten.int %arg0, {{.*}} -> !torch.vtensor<[?,7,2,8],f32>
// CHECK:         %[[H:.*]] = torch.aten.transpose.int %[[A]], {{.*}} -> !torch.vtensor<[?,2,7,8],f32>
// CHECK:         %[[T:.*]] = torch.operator "onnx.RotaryEmbedding"(%[[H]], %arg1, %arg2, %arg3)
// CHECK:         %[[B:.*]] = torch.aten.transpose.int %[[T]], {{.*}} -> !torch.vtensor<[?,7,2,8],f32>
// CHECK:         torch.aten.flatten.using_ints %[[B]], {{.*}} -> !torch.vtensor<[?,7,16],f32>
func.func @together(%x: !torch.vtensor<[?,7,16],f32>, %p: !torch.vtensor<[?,7],si64>, %c: !torch.vtensor<[16,4],f32>, %s: !torch.vtensor<[16,4],f32>) -> !torch.vtensor<[?,7,16],f32> {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %p, %c, %s) : (!torch.vtensor<[?,7,16],f32>, !torch.vtensor<[?,7],si64>, !torch.vtensor<[16,4],f32>, !torch.vtensor<[16,4],f32>) -> !torch.vtensor<[?,7,16],f32>
  return %r : !torch.vtensor<[?,7,16],f32>
}

// CHECK-LABEL: func.func @part
// CHECK:         %[[F:.*]] = torch.aten.slice.Tensor %arg0, {{.*}} -> !torch.vtensor<[?,2,7,4],f32>
// CHECK:         %[[T:.*]] = torch.operator "onnx.RotaryEmbedding"(%[[F]], {{.*}}) : {{.*}} -> !torch.vtensor<[?,2,7,4],f32>
// CHECK:         %[[L:.*]] = torch.aten.slice.Tensor %arg0, {{.*}} -> !torch.vtensor<[?,2,7,4],f32>
// CHECK:         torch.prim.ListConstruct %[[T]], %[[L]]
func.func @part(%x: !torch.vtensor<[?,2,7,8],f32>, %p: !torch.vtensor<[?,7],si64>, %c: !torch.vtensor<[16,2],f32>, %s: !torch.vtensor<[16,2],f32>) -> !torch.vtensor<[?,2,7,8],f32> {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %p, %c, %s) {torch.onnx.num_heads = 2 : si64, torch.onnx.rotary_embedding_dim = 4 : si64} : (!torch.vtensor<[?,2,7,8],f32>, !torch.vtensor<[?,7],si64>, !torch.vtensor<[16,2],f32>, !torch.vtensor<[16,2],f32>) -> !torch.vtensor<[?,2,7,8],f32>
  return %r : !torch.vtensor<[?,2,7,8],f32>
}

// Separate heads, which IREE turns as a whole, and the standard's own op, whose tables come first.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?,2,7,8],f32>, %p: !torch.vtensor<[?,7],si64>, %c: !torch.vtensor<[16,4],f32>, %y: !torch.vtensor<[?,7,16],f32>, %t: !torch.vtensor<[?,7,4],f32>) -> (!torch.vtensor<[?,2,7,8],f32>, !torch.vtensor<[?,7,16],f32>) {
  %r = torch.operator "onnx.RotaryEmbedding"(%x, %p, %c, %c) : (!torch.vtensor<[?,2,7,8],f32>, !torch.vtensor<[?,7],si64>, !torch.vtensor<[16,4],f32>, !torch.vtensor<[16,4],f32>) -> !torch.vtensor<[?,2,7,8],f32>
  %s = torch.operator "onnx.RotaryEmbedding"(%y, %t, %t) {torch.onnx.num_heads = 2 : si64} : (!torch.vtensor<[?,7,16],f32>, !torch.vtensor<[?,7,4],f32>, !torch.vtensor<[?,7,4],f32>) -> !torch.vtensor<[?,7,16],f32>
  return %r, %s : !torch.vtensor<[?,2,7,8],f32>, !torch.vtensor<[?,7,16],f32>
}
