// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-unpack-constants)' 2>/dev/null | FileCheck %s

// The first element of a byte is in its lowest bits.
// CHECK-LABEL: @packed
// CHECK:         torch.onnx.value = dense<{{\[\[}}1, 2, 3, 4], [5, 6, 7, -8]]> : tensor<2x4xsi4>
func.func @packed() -> !torch.vtensor<[2,4],si4> {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<packed> : tensor<2x4xsi4>} : () -> !torch.vtensor<[2,4],si4>
  return %w : !torch.vtensor<[2,4],si4>
}

// CHECK-LABEL: @silent
// CHECK:         dense_resource<whole> : tensor<2x4xsi4>
// CHECK:         dense_resource<packed> : tensor<4xsi8>
func.func @silent() -> (!torch.vtensor<[2,4],si4>, !torch.vtensor<[4],si8>) {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<whole> : tensor<2x4xsi4>} : () -> !torch.vtensor<[2,4],si4>
  %v = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<packed> : tensor<4xsi8>} : () -> !torch.vtensor<[4],si8>
  return %w, %v : !torch.vtensor<[2,4],si4>, !torch.vtensor<[4],si8>
}

{-#
  dialect_resources: {
    builtin: {
      packed: "0x0100000021436587",
      whole: "0x010000000102030405060708"
    }
  }
#-}
