// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-transform-by-tables)' | FileCheck %s

// Three results of a real transform of four elements, and then a complex one of three elements along the other dimension.
// CHECK-LABEL: func.func @two
// CHECK:         stablehlo.dot_general %{{.*}}, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
// CHECK:         stablehlo.dot_general %{{.*}}, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
// CHECK:         stablehlo.transpose
// CHECK:         stablehlo.complex
// CHECK-NOT:     stablehlo.fft
func.func @two(%x: tensor<3x4xf32>) -> tensor<3x3xcomplex<f32>> {
  %r = stablehlo.fft %x, type = RFFT, length = [3, 4] : (tensor<3x4xf32>) -> tensor<3x3xcomplex<f32>>
  return %r : tensor<3x3xcomplex<f32>>
}

// The twin: one dimension, a power of two, which IREE lowers.
// CHECK-LABEL: func.func @one
// CHECK:         stablehlo.fft
func.func @one(%x: tensor<3x4xf32>) -> tensor<3x3xcomplex<f32>> {
  %r = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<3x4xf32>) -> tensor<3x3xcomplex<f32>>
  return %r : tensor<3x3xcomplex<f32>>
}
