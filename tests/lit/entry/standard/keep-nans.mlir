// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-keep-nans)' | FileCheck %s

// CHECK-LABEL: func.func @either
// CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[3,1],f32>, %[[Y:.*]]: !torch.vtensor<[?],f32>
// CHECK:         %[[MADE:.*]] = torch.aten.maximum %[[X]], %[[Y]]
// CHECK:         %[[NAN:.*]] = torch.aten.ne.Tensor %[[X]], %[[X]] {{.*}} -> !torch.vtensor<[3,1],i1>
// CHECK:         torch.aten.where.self %[[NAN]], %[[X]], %[[MADE]] {{.*}} -> !torch.vtensor<[3,?],f32>
func.func @either(%x: !torch.vtensor<[3,1],f32>, %y: !torch.vtensor<[?],f32>) -> !torch.vtensor<[3,?],f32> {
  %r = torch.operator "onnx.Max"(%x, %y) : (!torch.vtensor<[3,1],f32>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[3,?],f32>
  return %r : !torch.vtensor<[3,?],f32>
}

// A constant goes first, and nothing is compared.
// CHECK-LABEL: func.func @constant
// CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[4],f32>
// CHECK:         %[[C:.*]] = torch.vtensor.literal
// CHECK:         torch.aten.minimum %[[C]], %[[X]]
// CHECK-NOT:     torch.aten.where
// CHECK:         return
func.func @constant(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %c = torch.vtensor.literal(dense<1.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %r = torch.aten.minimum %x, %c : !torch.vtensor<[4],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @sign
// CHECK:         torch.aten.sign
// CHECK:         torch.aten.where.self
func.func @sign(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %r = torch.operator "onnx.Sign"(%x) : (!torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16>
  return %r : !torch.vtensor<[4],f16>
}

// CHECK-LABEL: func.func @silent_constant
// CHECK:         torch.operator "onnx.Max"
// CHECK-NOT:     torch.aten
// CHECK:         return
func.func @silent_constant(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %c = torch.vtensor.literal(dense<1.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %r = torch.operator "onnx.Max"(%c, %x) : (!torch.vtensor<[],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @silent_integers
// CHECK:         torch.operator "onnx.Max"
// CHECK:         torch.operator "onnx.Sign"
func.func @silent_integers(%x: !torch.vtensor<[4],si64>, %y: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %m = torch.operator "onnx.Max"(%x, %y) : (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64>
  %r = torch.operator "onnx.Sign"(%m) : (!torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64>
  return %r : !torch.vtensor<[4],si64>
}

// IREE rejects it, and `fissile-broadcast-operands` writes it.
// CHECK-LABEL: func.func @silent_rejected
// CHECK:         torch.operator "onnx.Max"
func.func @silent_rejected(%x: !torch.vtensor<[3,1],f32>, %y: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %r = torch.operator "onnx.Max"(%x, %y, %z) : (!torch.vtensor<[3,1],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}
