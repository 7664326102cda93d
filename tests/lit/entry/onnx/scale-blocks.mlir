// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scale-blocks)' | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK:         torch.aten.expand {{.*}} -> !torch.vtensor<[3,8,4],f32>
// CHECK:         torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[24,4],f32>
// CHECK:         torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[20,4],f32>
// CHECK:         torch.aten.mul.Tensor
func.func @blocks(%x: !torch.vtensor<[20,4],si8>, %s: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[20,4],f32> {
  %r = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64, torch.onnx.block_size = 8 : si64} : (!torch.vtensor<[20,4],si8>, !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[20,4],f32>
  return %r : !torch.vtensor<[20,4],f32>
}

// CHECK-LABEL: func.func @unsigned_4_bits
// CHECK:         arith.extui {{.*}} : tensor<20x4xi4> to tensor<20x4xi8>
func.func @unsigned_4_bits(%s: !torch.vtensor<[],f32>) -> !torch.vtensor<[20,4],f32> {
  %x = torch.vtensor.literal(dense<9> : tensor<20x4xui4>) : !torch.vtensor<[20,4],ui4>
  %r = torch.operator "onnx.DequantizeLinear"(%x, %s) : (!torch.vtensor<[20,4],ui4>, !torch.vtensor<[],f32>) -> !torch.vtensor<[20,4],f32>
  return %r : !torch.vtensor<[20,4],f32>
}

// CHECK-LABEL: func.func @unsigned_16_bits
// CHECK:         torch.aten.clamp
// CHECK:         arith.trunci {{.*}} : tensor<4xi32> to tensor<4xi16>
// CHECK:         arith.extui {{.*}} : tensor<4xi16> to tensor<4xi32>
func.func @unsigned_16_bits(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],ui16>) -> !torch.vtensor<[4],f32> {
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui16>) -> !torch.vtensor<[4],ui16>
  %r = torch.operator "onnx.DequantizeLinear"(%q, %s) : (!torch.vtensor<[4],ui16>, !torch.vtensor<[],f32>) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}

// A scale for each channel, of bytes.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     aten.mul
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[20,4],si8>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[20,4],f32> {
  %r = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[20,4],si8>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[20,4],f32>
  return %r : !torch.vtensor<[20,4],f32>
}
