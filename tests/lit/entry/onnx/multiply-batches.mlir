// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-multiply-batches)' | FileCheck %s

// CHECK-LABEL: func.func @row
// CHECK:         %[[R:.*]] = torch.aten.unsqueeze %arg0, {{.*}} -> !torch.vtensor<[1,8],f32>
// CHECK:         %[[P:.*]] = torch.aten.matmul %[[R]], %arg1 : {{.*}} -> !torch.vtensor<[?,1,4],f32>
// CHECK:         torch.aten.squeeze.dim %[[P]], {{.*}} -> !torch.vtensor<[?,4],f32>
func.func @row(%x: !torch.vtensor<[8],f32>, %y: !torch.vtensor<[?,8,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %r = torch.operator "onnx.MatMul"(%x, %y) : (!torch.vtensor<[8],f32>, !torch.vtensor<[?,8,4],f32>) -> !torch.vtensor<[?,4],f32>
  return %r : !torch.vtensor<[?,4],f32>
}

// CHECK-LABEL: func.func @integers
// CHECK:         %[[X:.*]] = torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[?,3,8],si32>
// CHECK:         %[[Y:.*]] = torch.aten.to.dtype %arg1, {{.*}} -> !torch.vtensor<[?,8,4],si32>
// CHECK:         torch.aten.matmul %[[X]], %[[Y]] : {{.*}} -> !torch.vtensor<[?,3,4],si32>
func.func @integers(%x: !torch.vtensor<[?,3,8],ui8>, %y: !torch.vtensor<[?,8,4],si8>) -> !torch.vtensor<[?,3,4],si32> {
  %r = torch.operator "onnx.MatMulInteger"(%x, %y) : (!torch.vtensor<[?,3,8],ui8>, !torch.vtensor<[?,8,4],si8>) -> !torch.vtensor<[?,3,4],si32>
  return %r : !torch.vtensor<[?,3,4],si32>
}

// Matrices, of which IREE has products, and a zero point, with which it has those of batches.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten.matmul
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[8],f32>, %y: !torch.vtensor<[8,4],f32>, %a: !torch.vtensor<[?,3,8],ui8>, %b: !torch.vtensor<[?,8,4],si8>, %z: !torch.vtensor<[],ui8>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[?,3,4],si32>) {
  %r = torch.operator "onnx.MatMul"(%x, %y) : (!torch.vtensor<[8],f32>, !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[4],f32>
  %s = torch.operator "onnx.MatMulInteger"(%a, %b, %z) : (!torch.vtensor<[?,3,8],ui8>, !torch.vtensor<[?,8,4],si8>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[?,3,4],si32>
  return %r, %s : !torch.vtensor<[4],f32>, !torch.vtensor<[?,3,4],si32>
}
