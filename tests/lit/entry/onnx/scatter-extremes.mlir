// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scatter-extremes)' | FileCheck %s

// CHECK-LABEL: func.func @raised
// CHECK:         torch.aten.where.self
// CHECK:         torch.constant.str "amax"
// CHECK:         torch.aten.scatter_reduce.two
func.func @raised(%d: !torch.vtensor<[7,?],f32>, %i: !torch.vtensor<[5,?],si64>, %u: !torch.vtensor<[5,?],f32>) -> !torch.vtensor<[7,?],f32> {
  %r = torch.operator "onnx.ScatterElements"(%d, %i, %u) {torch.onnx.axis = -2 : si64, torch.onnx.reduction = "max"} : (!torch.vtensor<[7,?],f32>, !torch.vtensor<[5,?],si64>, !torch.vtensor<[5,?],f32>) -> !torch.vtensor<[7,?],f32>
  return %r : !torch.vtensor<[7,?],f32>
}

// IREE lowers a sum; unsigned bytes it would compare as signed.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     scatter_reduce
// CHECK:         return
func.func @silent(%d: !torch.vtensor<[7],f32>, %i: !torch.vtensor<[5],si64>, %u: !torch.vtensor<[5],f32>, %b: !torch.vtensor<[7],ui8>, %c: !torch.vtensor<[5],ui8>) -> (!torch.vtensor<[7],f32>, !torch.vtensor<[7],ui8>) {
  %r = torch.operator "onnx.ScatterElements"(%d, %i, %u) {torch.onnx.reduction = "add"} : (!torch.vtensor<[7],f32>, !torch.vtensor<[5],si64>, !torch.vtensor<[5],f32>) -> !torch.vtensor<[7],f32>
  %s = torch.operator "onnx.ScatterElements"(%b, %i, %c) {torch.onnx.reduction = "max"} : (!torch.vtensor<[7],ui8>, !torch.vtensor<[5],si64>, !torch.vtensor<[5],ui8>) -> !torch.vtensor<[7],ui8>
  return %r, %s : !torch.vtensor<[7],f32>, !torch.vtensor<[7],ui8>
}
