// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-activations)' | FileCheck %s

// CHECK-LABEL: func.func @quotient
// CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[2,?],f32>
// CHECK:         %[[SIZE:.*]] = torch.aten.abs %[[X]]
// CHECK:         %[[BELOW:.*]] = torch.aten.add.Scalar %[[SIZE]]
// CHECK:         torch.aten.div.Tensor %[[X]], %[[BELOW]]
func.func @quotient(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32> {
  %r = torch.operator "onnx.Softsign"(%x) : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32>
  return %r : !torch.vtensor<[2,?],f32>
}

// CHECK-LABEL: func.func @mish
// CHECK:         torch.aten.mish
func.func @mish(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = torch.operator "onnx.Mish"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.Softplus"
func.func @silent(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %r = torch.operator "onnx.Softplus"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
