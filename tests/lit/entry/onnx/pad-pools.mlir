// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pad-pools)' | FileCheck %s

// CHECK-LABEL: func.func @uneven
// CHECK:         torch.constant.int -128
// CHECK:         torch.aten.constant_pad_nd {{.*}} -> !torch.vtensor<[1,2,11,10],si8>
// CHECK:         "onnx.MaxPool"
// CHECK-NOT:     onnx.pads
func.func @uneven(%x: !torch.vtensor<[1,2,9,9],si8>) -> !torch.vtensor<[1,2,9,8],si8> {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [3 : si64, 3 : si64], torch.onnx.pads = [1 : si64, 0 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,2,9,9],si8>) -> !torch.vtensor<[1,2,9,8],si8>
  return %r : !torch.vtensor<[1,2,9,8],si8>
}

// The same borders on both sides, and the positions as a second result.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     constant_pad_nd
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[1,2,9,9],si8>) -> (!torch.vtensor<[1,2,9,9],si8>, !torch.vtensor<[1,2,9,8],si8>) {
  %r = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [3 : si64, 3 : si64], torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,2,9,9],si8>) -> !torch.vtensor<[1,2,9,9],si8>
  %s:2 = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [3 : si64, 3 : si64], torch.onnx.pads = [1 : si64, 0 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,2,9,9],si8>) -> (!torch.vtensor<[1,2,9,8],si8>, !torch.vtensor<[1,2,9,8],si64>)
  return %r, %s#0 : !torch.vtensor<[1,2,9,9],si8>, !torch.vtensor<[1,2,9,8],si8>
}
