// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reshape-empty)' | FileCheck %s

// CHECK-LABEL: func.func @empty
// CHECK:         torch.aten.zeros {{.*}} -> !torch.vtensor<[3,0,4],f32>
func.func @empty(%x: !torch.vtensor<[0,3,4],f32>, %s: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,0,4],f32> {
  %r = torch.operator "onnx.Reshape"(%x, %s) {torch.onnx.allowzero = 1 : si64} : (!torch.vtensor<[0,3,4],f32>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,0,4],f32>
  return %r : !torch.vtensor<[3,0,4],f32>
}

// Shapes with elements, and one that the call decides.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[2,3],f32>, %s: !torch.vtensor<[1],si64>) -> (!torch.vtensor<[6],f32>, !torch.vtensor<[?],f32>) {
  %r = torch.operator "onnx.Reshape"(%x, %s) {torch.onnx.allowzero = 1 : si64} : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[6],f32>
  %t = torch.operator "onnx.Reshape"(%x, %s) {torch.onnx.allowzero = 1 : si64} : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[?],f32>
  return %r, %t : !torch.vtensor<[6],f32>, !torch.vtensor<[?],f32>
}
