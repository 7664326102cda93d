// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-bitcast)' | FileCheck %s

// CHECK-LABEL: @bits
// CHECK-NOT: onnx.BitCast
// CHECK: torch_c.to_builtin_tensor {{.*}} -> tensor<2x?xf32>
// CHECK: arith.bitcast {{.*}} : tensor<2x?xf32> to tensor<2x?xi32>
// CHECK: torch_c.from_builtin_tensor {{.*}} -> !torch.vtensor<[2,?],ui32>
func.func @bits(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],ui32> {
  %0 = torch.operator "onnx.BitCast"(%x) {torch.onnx.to = 12 : si64} : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],ui32>
  return %0 : !torch.vtensor<[2,?],ui32>
}

// Another number of elements, and f64, which IREE may make f32: left to whoever reports it.
// CHECK-LABEL: @other_width
// CHECK: torch.operator "onnx.BitCast"
func.func @other_width(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,8],si16> {
  %0 = torch.operator "onnx.BitCast"(%x) {torch.onnx.to = 5 : si64} : (!torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,8],si16>
  return %0 : !torch.vtensor<[2,8],si16>
}

// CHECK-LABEL: @double
// CHECK: torch.operator "onnx.BitCast"
func.func @double(%x: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],si64> {
  %0 = torch.operator "onnx.BitCast"(%x) {torch.onnx.to = 7 : si64} : (!torch.vtensor<[4],f64>) -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}
