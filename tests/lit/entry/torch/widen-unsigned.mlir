// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-unsigned)' | FileCheck %s

// CHECK-LABEL: func.func @normalised
// CHECK:         %[[WIDE:.*]] = torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[4],si32>
// CHECK:         torch.aten.div.Scalar %[[WIDE]], {{.*}} -> !torch.vtensor<[4],f32>
func.func @normalised(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],f32> {
  %most = torch.constant.int 255
  %r = torch.aten.div.Scalar %x, %most : !torch.vtensor<[4],ui8>, !torch.int -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// What is left of it has 8 bits again.
// CHECK-LABEL: func.func @remainder
// CHECK:         %[[R:.*]] = torch.aten.remainder.Tensor {{.*}} -> !torch.vtensor<[4],si32>
// CHECK:         torch.aten.to.dtype %[[R]], {{.*}} -> !torch.vtensor<[4],ui8>
func.func @remainder(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],ui8> {
  %r = torch.aten.remainder.Tensor %x, %x : !torch.vtensor<[4],ui8>, !torch.vtensor<[4],ui8> -> !torch.vtensor<[4],ui8>
  return %r : !torch.vtensor<[4],ui8>
}

// A product of 8 bits is the same with and without a sign, and signed integers are read as such.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     to.dtype
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[4],ui8>, %y: !torch.vtensor<[4],si8>) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[],si64>) {
  %none = torch.constant.none
  %p = torch.aten.mul.Tensor %x, %x : !torch.vtensor<[4],ui8>, !torch.vtensor<[4],ui8> -> !torch.vtensor<[4],ui8>
  %s = torch.aten.sum %y, %none : !torch.vtensor<[4],si8>, !torch.none -> !torch.vtensor<[],si64>
  return %p, %s : !torch.vtensor<[4],ui8>, !torch.vtensor<[],si64>
}

// A pool pads with the least number there is, which no integer is.
// CHECK-LABEL: func.func @of_onnx
// CHECK:         torch.operator "onnx.Div"({{.*}}) : {{.*}} -> !torch.vtensor<[1,1,4],si32>
// CHECK:         torch.operator "onnx.MaxPool"({{.*}}) {{.*}} -> !torch.vtensor<[1,1,2],f32>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[1,1,2],ui8>
// CHECK:         torch.operator "onnx.Add"({{.*}}) : {{.*}} -> !torch.vtensor<[1,1,4],ui8>
func.func @of_onnx(%x: !torch.vtensor<[1,1,4],ui8>) -> (!torch.vtensor<[1,1,4],ui8>, !torch.vtensor<[1,1,2],ui8>, !torch.vtensor<[1,1,4],ui8>) {
  %q = torch.operator "onnx.Div"(%x, %x) : (!torch.vtensor<[1,1,4],ui8>, !torch.vtensor<[1,1,4],ui8>) -> !torch.vtensor<[1,1,4],ui8>
  %m = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [2 : si64], torch.onnx.strides = [2 : si64]} : (!torch.vtensor<[1,1,4],ui8>) -> !torch.vtensor<[1,1,2],ui8>
  %s = torch.operator "onnx.Add"(%x, %x) : (!torch.vtensor<[1,1,4],ui8>, !torch.vtensor<[1,1,4],ui8>) -> !torch.vtensor<[1,1,4],ui8>
  return %q, %m, %s : !torch.vtensor<[1,1,4],ui8>, !torch.vtensor<[1,1,2],ui8>, !torch.vtensor<[1,1,4],ui8>
}

// CHECK-LABEL: func.func @bytes_of_floats
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[5],si32>
// CHECK:         torch.aten.to.dtype {{.*}} -> !torch.vtensor<[5],ui8>
func.func @bytes_of_floats(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],ui8> {
  %r = torch.operator "onnx.Cast"(%x) {torch.onnx.to = 2 : si64} : (!torch.vtensor<[5],f32>) -> !torch.vtensor<[5],ui8>
  return %r : !torch.vtensor<[5],ui8>
}

// CHECK-LABEL: func.func @silent_casts
// CHECK-NOT:     si32
// CHECK:         return
func.func @silent_casts(%x: !torch.vtensor<[5],f32>, %y: !torch.vtensor<[5],ui8>) -> (!torch.vtensor<[5],si8>, !torch.vtensor<[5],f32>) {
  %r = torch.operator "onnx.Cast"(%x) {torch.onnx.to = 3 : si64} : (!torch.vtensor<[5],f32>) -> !torch.vtensor<[5],si8>
  %s = torch.operator "onnx.Cast"(%y) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[5],ui8>) -> !torch.vtensor<[5],f32>
  return %r, %s : !torch.vtensor<[5],si8>, !torch.vtensor<[5],f32>
}

// The greatest of what is scattered is compared; a sum is the same with and without a sign.
// CHECK-LABEL: func.func @scattered
// CHECK:         torch.aten.scatter_reduce.two {{.*}} -> !torch.vtensor<[4],si32>
// CHECK:         torch.aten.scatter_reduce.two {{.*}} -> !torch.vtensor<[4],ui8>
func.func @scattered(%x: !torch.vtensor<[4],ui8>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[4],ui8>) {
  %zero = torch.constant.int 0
  %yes = torch.constant.bool true
  %most = torch.constant.str "amax"
  %sum = torch.constant.str "sum"
  %m = torch.aten.scatter_reduce.two %x, %zero, %i, %x, %most, %yes : !torch.vtensor<[4],ui8>, !torch.int, !torch.vtensor<[4],si64>, !torch.vtensor<[4],ui8>, !torch.str, !torch.bool -> !torch.vtensor<[4],ui8>
  %s = torch.aten.scatter_reduce.two %x, %zero, %i, %x, %sum, %yes : !torch.vtensor<[4],ui8>, !torch.int, !torch.vtensor<[4],si64>, !torch.vtensor<[4],ui8>, !torch.str, !torch.bool -> !torch.vtensor<[4],ui8>
  return %m, %s : !torch.vtensor<[4],ui8>, !torch.vtensor<[4],ui8>
}
