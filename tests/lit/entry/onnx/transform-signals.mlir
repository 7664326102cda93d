// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-transform-signals)' | FileCheck %s

// A real signal: two products, of which the first half is kept.
// CHECK-LABEL: func.func @half
// CHECK-COUNT-2: torch.aten.matmul {{.*}} -> !torch.vtensor<[2,8],f32>
// CHECK:         torch.aten.cat {{.*}} -> !torch.vtensor<[2,5,2],f32>
func.func @half(%x: !torch.vtensor<[2,8,1],f32>) -> !torch.vtensor<[2,5,2],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %r = torch.operator "onnx.DFT"(%x) {torch.onnx.onesided = 1 : si64} : (!torch.vtensor<[2,8,1],f32>) -> !torch.vtensor<[2,5,2],f32>
  return %r : !torch.vtensor<[2,5,2],f32>
}

// An unknown number of elements.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.DFT"
func.func @silent(%x: !torch.vtensor<[2,?,1],f32>) -> !torch.vtensor<[2,?,2],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %r = torch.operator "onnx.DFT"(%x) : (!torch.vtensor<[2,?,1],f32>) -> !torch.vtensor<[2,?,2],f32>
  return %r : !torch.vtensor<[2,?,2],f32>
}
