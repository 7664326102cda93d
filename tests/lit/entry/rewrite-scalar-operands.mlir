// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rewrite-scalar-operands)' | FileCheck %s

// CHECK-LABEL: @known
// CHECK: %[[N:.*]] = torch.vtensor.literal(dense<5> : tensor<si64>) : !torch.vtensor<[],si64>
// CHECK: torch.aten.bitwise_or.Tensor %{{.*}}, %[[N]]
// CHECK-NOT: torch.operator
func.func @known(%x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %n = torch.constant.int 5
  %r = torch.operator "torch.aten.bitwise_or.Scalar"(%x, %n) : (!torch.vtensor<[4],si64>, !torch.int) -> !torch.vtensor<[4],si64>
  return %r : !torch.vtensor<[4],si64>
}

// A number that nobody knows, and one of another type.
// CHECK-LABEL: @unknown
// CHECK: torch.operator "torch.aten.bitwise_or.Scalar"
func.func @unknown(%x: !torch.vtensor<[4],si64>, %n: !torch.int) -> !torch.vtensor<[4],si64> {
  %r = torch.operator "torch.aten.bitwise_or.Scalar"(%x, %n) : (!torch.vtensor<[4],si64>, !torch.int) -> !torch.vtensor<[4],si64>
  return %r : !torch.vtensor<[4],si64>
}
// CHECK-LABEL: @fraction
// CHECK: torch.aten.fmod.Scalar
func.func @fraction(%x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],f32> {
  %n = torch.constant.float 2.5
  %r = torch.aten.fmod.Scalar %x, %n : !torch.vtensor<[4],si64>, !torch.float -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
