// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-unroll-windows)' | FileCheck %s

// Without sums over channels all elements of the window are one elementwise op, in the order of the result.
// CHECK-LABEL: func.func @depthwise
// CHECK:         %[[X0:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 8, 5, 6] [1, 1, 2, 1]
// CHECK:         %[[W0:.*]] = tensor.extract_slice %arg1[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
// CHECK:         tensor.extract_slice %arg0[0, 0, 0, 3] [1, 8, 5, 6] [1, 1, 2, 1]
// CHECK:         tensor.extract_slice %arg0[0, 0, 1, 0]
// CHECK:         tensor.extract_slice %arg0[0, 0, 1, 3]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]{{.*}} ins(%[[X0]], %[[W0]],
// CHECK-COUNT-4:   arith.mulf
// CHECK:         return %[[R]]
func.func @depthwise(%x: tensor<1x8x10x9xf32>, %w: tensor<8x2x2xf32>, %e: tensor<1x8x5x6xf32>) -> tensor<1x8x5x6xf32> {
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[1, 3]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x8x10x9xf32>, tensor<8x2x2xf32>) outs(%e : tensor<1x8x5x6xf32>) -> tensor<1x8x5x6xf32>
  return %r : tensor<1x8x5x6xf32>
}

// Each element of the window adds to the sums so far; the kernel is moved once, so that an element of its window is read in one piece.
// CHECK-LABEL: func.func @volume
// CHECK:         %[[MOVED:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<6x4x1x2x1xi8>) outs({{.*}} : tensor<1x2x1x6x4xi8>)
// CHECK:         %[[W:.*]] = {{.*}}fissile.boundary{{.*}}%[[MOVED]]
// CHECK:         %[[X0:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0, 0] [1, 4, 3, 3, 3]
// CHECK:         %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0, 0, 0, 0] [1, 1, 1, 6, 4] {{.*}} to tensor<6x4xi8>
// CHECK:         %[[X1:.*]] = tensor.extract_slice %arg0[0, 0, 0, 1, 0] [1, 4, 3, 3, 3]
// CHECK:         %[[R0:.*]] = linalg.generic {{.*}} ins(%[[X0]], %[[W0]] : {{.*}}) outs(%arg2
// CHECK:           arith.extsi
// CHECK:         linalg.generic {{.*}} ins(%[[X1]], {{.*}} outs(%[[R0]]
func.func @volume(%x: tensor<1x4x3x4x3xi8>, %w: tensor<6x4x1x2x1xi8>, %e: tensor<1x6x3x3x3xi32>) -> tensor<1x6x3x3x3xi32> {
  %r = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>}
      ins(%x, %w : tensor<1x4x3x4x3xi8>, tensor<6x4x1x2x1xi8>) outs(%e : tensor<1x6x3x3x3xi32>) -> tensor<1x6x3x3x3xi32>
  return %r : tensor<1x6x3x3x3xi32>
}

// A pool reads no weights, a size is not known, a matrix product has no window.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.pooling_nhwc_max
// CHECK:         linalg.conv_2d_nhwc_fhwc
// CHECK:         linalg.matmul
func.func @others(%x: tensor<1x8x8x4xf32>, %k: tensor<2x2xf32>, %e: tensor<1x7x7x4xf32>, %d: tensor<?x8x8x4xf32>, %w: tensor<6x2x2x4xf32>,
    %f: tensor<?x7x7x6xf32>, %a: tensor<4x4xf32>) -> (tensor<1x7x7x4xf32>, tensor<?x7x7x6xf32>, tensor<4x4xf32>) {
  %p = linalg.pooling_nhwc_max ins(%x, %k : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%e : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  %c = linalg.conv_2d_nhwc_fhwc ins(%d, %w : tensor<?x8x8x4xf32>, tensor<6x2x2x4xf32>) outs(%f : tensor<?x7x7x6xf32>) -> tensor<?x7x7x6xf32>
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p, %c, %m : tensor<1x7x7x4xf32>, tensor<?x7x7x6xf32>, tensor<4x4xf32>
}
