// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-gather-blocks)' | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK-COUNT-6: torch.aten.slice.Tensor
// CHECK:         torch.aten.cat {{.*}} -> !torch.vtensor<[1,8,?,?],f32>
func.func @blocks(%x: !torch.vtensor<[1,2,?,?],f32>) -> !torch.vtensor<[1,8,?,?],f32> {
  %r = torch.operator "onnx.SpaceToDepth"(%x) {torch.onnx.blocksize = 2 : si64} : (!torch.vtensor<[1,2,?,?],f32>) -> !torch.vtensor<[1,8,?,?],f32>
  return %r : !torch.vtensor<[1,8,?,?],f32>
}

// Known sizes, and the other order of channels.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten.slice
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?,2,4,4],f32>, %y: !torch.vtensor<[1,2,?,?],f32>) -> (!torch.vtensor<[?,8,2,2],f32>, !torch.vtensor<[1,8,?,?],f32>) {
  %r = torch.operator "onnx.SpaceToDepth"(%x) {torch.onnx.blocksize = 2 : si64} : (!torch.vtensor<[?,2,4,4],f32>) -> !torch.vtensor<[?,8,2,2],f32>
  %s = torch.operator "onnx.SpaceToDepth"(%y) {torch.onnx.blocksize = 2 : si64, torch.onnx.mode = "CRD"} : (!torch.vtensor<[1,2,?,?],f32>) -> !torch.vtensor<[1,8,?,?],f32>
  return %r, %s : !torch.vtensor<[?,8,2,2],f32>, !torch.vtensor<[1,8,?,?],f32>
}
