// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-empty-products)' | FileCheck %s

// CHECK-LABEL: func.func @nothing
// CHECK-SAME:    %[[C:[a-z0-9]*]]: tensor<4x4xf32>)
// CHECK-NOT:     linalg
// CHECK:         return %[[C]]
func.func @nothing(%a: tensor<4x0xf32>, %b: tensor<0x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// No rows; terms; a convolution.
// CHECK-LABEL: func.func @silent
// CHECK-COUNT-2: linalg.matmul
// CHECK:         linalg.conv_2d_nhwc_hwcf
func.func @silent(%a: tensor<0x4xf32>, %b: tensor<4x4xf32>, %c: tensor<0x4xf32>, %d: tensor<4x4xf32>, %x: tensor<1x6x6x0xf32>, %k: tensor<3x3x0x4xf32>, %e: tensor<1x4x4x4xf32>) -> (tensor<0x4xf32>, tensor<4x4xf32>, tensor<1x4x4x4xf32>) {
  %r = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x4xf32>) outs(%c : tensor<0x4xf32>) -> tensor<0x4xf32>
  %s = linalg.matmul ins(%b, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x6x6x0xf32>, tensor<3x3x0x4xf32>) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %r, %s, %t : tensor<0x4xf32>, tensor<4x4xf32>, tensor<1x4x4x4xf32>
}
