// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-type-scalars)' 2>/dev/null | FileCheck %s

// The number has the type of the tensor.
// CHECK-LABEL: @times
// CHECK:         %[[NUMBER:.*]] = torch.constant.float -1.0
// CHECK:         torch.aten.mul.Scalar %{{.*}}, %[[NUMBER]] : !torch.vtensor<[4],f32>, !torch.float
func.func @times() -> !torch.vtensor<[4],f32> {
  %minus = torch.constant.int -1
  %c = torch.vtensor.literal(dense<0.5> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %r = torch.aten.mul.Scalar %c, %minus : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// Also of a constant that another op makes.
// CHECK-LABEL: @above
// CHECK:         %[[ZERO:.*]] = torch.constant.float 0.0
// CHECK:         torch.aten.gt.Scalar %{{.*}}, %[[ZERO]]
func.func @above(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],i1> {
  %zero = torch.constant.int 0
  %none = torch.constant.none
  %no = torch.constant.bool false
  %c = torch.aten.ones_like %x, %none, %none, %none, %no, %none : !torch.vtensor<[4],f32>, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  %h = torch.aten.mul.Scalar %c, %zero : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %r = torch.aten.gt.Scalar %h, %zero : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],i1>
  return %r : !torch.vtensor<[4],i1>
}

// CHECK-LABEL: @itself
// CHECK:         %[[NAN:.*]] = torch.aten.isnan %arg0
// CHECK:         torch.aten.logical_not %[[NAN]]
func.func @itself(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],i1> {
  %r = torch.aten.eq.Tensor %x, %x : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],i1>
  return %r : !torch.vtensor<[4],i1>
}

// An argument is no constant, integers are equal to themselves, and a number of the tensor's type is right as it is.
// CHECK-LABEL: @left
// CHECK:         torch.aten.mul.Scalar %arg0, %int-1
// CHECK:         torch.aten.eq.Tensor %arg1, %arg1
// CHECK:         torch.aten.mul.Scalar %arg1, %int-1
// CHECK-NOT:     torch.constant.float
func.func @left(%x: !torch.vtensor<[4],f32>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],i1>, !torch.vtensor<[4],si64>) {
  %minus = torch.constant.int -1
  %a = torch.aten.mul.Scalar %x, %minus : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %b = torch.aten.eq.Tensor %i, %i : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],i1>
  %c = torch.aten.mul.Scalar %i, %minus : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4],si64>
  return %a, %b, %c : !torch.vtensor<[4],f32>, !torch.vtensor<[4],i1>, !torch.vtensor<[4],si64>
}
