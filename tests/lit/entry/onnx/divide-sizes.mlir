// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-divide-sizes)' | FileCheck %s

// The border is -length mod 4: neither dividend is negative.
// CHECK-LABEL: func.func @border
// CHECK:         %[[N:.*]] = torch.operator "onnx.Neg"
// CHECK:         %[[NN:.*]] = torch.operator "onnx.Neg"(%[[N]])
// CHECK:         %[[A:.*]] = torch.operator "onnx.Max"(%[[N]],
// CHECK:         %[[B:.*]] = torch.operator "onnx.Max"(%[[NN]],
// CHECK:         dense<3> : tensor<1xsi64>
// CHECK:         torch.operator "onnx.Mod"(%[[A]],
// CHECK:         torch.operator "onnx.Mod"(%[[B]],
// CHECK:         torch.operator "onnx.Mul"
// CHECK:         %[[SUM:.*]] = torch.operator "onnx.Add"
// CHECK:         torch.operator "onnx.Mod"(%[[SUM]],
func.func @border(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %four = torch.operator "onnx.Constant"() {torch.onnx.value = dense<4> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %zero = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %shape = torch.operator "onnx.Shape"(%x) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[1],si64>
  %n = torch.operator "onnx.Neg"(%shape) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %m = torch.operator "onnx.Mod"(%n, %four) : (!torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %p = torch.operator "onnx.Concat"(%zero, %m) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2],si64>
  %r = torch.operator "onnx.Pad"(%x, %p) : (!torch.vtensor<[?],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @quotient
// CHECK:         torch.operator "onnx.Max"
// CHECK:         torch.operator "onnx.Max"
// CHECK:         %[[A:.*]] = torch.operator "onnx.Div"
// CHECK:         %[[B:.*]] = torch.operator "onnx.Div"
// CHECK:         torch.operator "onnx.Sub"(%[[A]], %[[B]])
func.func @quotient(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %four = torch.operator "onnx.Constant"() {torch.onnx.value = dense<4> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %shape = torch.operator "onnx.Shape"(%x) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[1],si64>
  %n = torch.operator "onnx.Neg"(%shape) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %q = torch.operator "onnx.Div"(%n, %four) : (!torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %m = torch.operator "onnx.Neg"(%q) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.ConstantOfShape"(%m) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// What iree-turbine writes for Python's remainder.
// CHECK-LABEL: func.func @python
// CHECK:         %[[Q:.*]] = torch.aten.floordiv.int %arg0, %arg1
// CHECK:         %[[W:.*]] = torch.aten.mul.int %[[Q]], %arg1
// CHECK:         torch.aten.sub.int %arg0, %[[W]]
func.func @python(%a: !torch.int, %b: !torch.int) -> !torch.int {
  %r = torch.operator "torch.aten.fmod.int"(%a, %b) : (!torch.int, !torch.int) -> !torch.int
  return %r : !torch.int
}

// A length is not negative, and a remainder that is no size stays a tensor, which IREE divides rightly.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     onnx.Max
// CHECK-NOT:     floordiv
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[1],si64>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[1],si64>, !torch.int) {
  %first = torch.constant.int 0
  %eight = torch.constant.int 8
  %four = torch.operator "onnx.Constant"() {torch.onnx.value = dense<4> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %shape = torch.operator "onnx.Shape"(%x) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[1],si64>
  %q = torch.operator "onnx.Div"(%shape, %four) : (!torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.ConstantOfShape"(%q) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[?],f32>
  %m = torch.operator "onnx.Mod"(%y, %four) : (!torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1],si64>
  %n = torch.aten.size.int %x, %first : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %i = torch.aten.remainder.int %n, %eight : !torch.int, !torch.int -> !torch.int
  return %r, %m, %i : !torch.vtensor<[?],f32>, !torch.vtensor<[1],si64>, !torch.int
}
