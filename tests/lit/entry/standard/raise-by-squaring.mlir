// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-raise-by-squaring)' | FileCheck %s

// CHECK-LABEL: func.func @cube
// CHECK:         %[[SQUARE:.*]] = torch.aten.mul.Tensor %arg0, %arg0
// CHECK:         torch.aten.mul.Tensor %arg0, %[[SQUARE]]
func.func @cube(%x: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?],si64> {
  %three = torch.constant.int 3
  %r = torch.aten.pow.Tensor_Scalar %x, %three : !torch.vtensor<[?],si64>, !torch.int -> !torch.vtensor<[?],si64>
  return %r : !torch.vtensor<[?],si64>
}

// PyTorch rejects a negative exponent; a power of floats is one that IREE lowers.
// CHECK-LABEL: func.func @silent
// CHECK-COUNT-2: torch.aten.pow.Tensor_Scalar
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?],si64>, %y: !torch.vtensor<[?],f32>) -> (!torch.vtensor<[?],si64>, !torch.vtensor<[?],f32>) {
  %less = torch.constant.int -3
  %r = torch.aten.pow.Tensor_Scalar %x, %less : !torch.vtensor<[?],si64>, !torch.int -> !torch.vtensor<[?],si64>
  %s = torch.aten.pow.Tensor_Scalar %y, %less : !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  return %r, %s : !torch.vtensor<[?],si64>, !torch.vtensor<[?],f32>
}
