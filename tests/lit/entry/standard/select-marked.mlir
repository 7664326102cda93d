// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-select-marked)' | FileCheck %s

// CHECK-LABEL: func.func @known
// CHECK:         %[[P:.*]] = torch.vtensor.literal(dense<[0, 2, 3]> : tensor<3xsi64>)
// CHECK:         torch.aten.index_select %arg0, %{{.*}}, %[[P]] {{.*}} -> !torch.vtensor<[3,3],f32>
func.func @known(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,?],f32> {
  %c = torch.vtensor.literal(dense<[true, false, true, true]> : tensor<4xi1>) : !torch.vtensor<[4],i1>
  %r = torch.operator "onnx.Compress"(%x, %c) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4],i1>) -> !torch.vtensor<[3,?],f32>
  return %r : !torch.vtensor<[3,?],f32>
}

// Without an axis all elements are one row.
// CHECK-LABEL: func.func @given
// CHECK:         %[[F:.*]] = torch.aten.flatten.using_ints %arg0
// CHECK:         %[[N:.*]] = torch.aten.nonzero %arg1
// CHECK:         %[[P:.*]] = torch.aten.squeeze.dim %[[N]]
// CHECK:         torch.aten.index_select %[[F]], %{{.*}}, %[[P]]
func.func @given(%x: !torch.vtensor<[3,4],f32>, %c: !torch.vtensor<[9],i1>) -> !torch.vtensor<[?],f32> {
  %r = torch.operator "onnx.Compress"(%x, %c) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[9],i1>) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// A condition that is no list.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[3,4],f32>, %c: !torch.vtensor<[3,4],i1>) -> !torch.vtensor<[?],f32> {
  %r = torch.operator "onnx.Compress"(%x, %c) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],i1>) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
