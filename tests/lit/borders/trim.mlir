// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-trim-borders)' | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK:         %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 2, 3, 4] [1, 1, 1, 1]
// CHECK:         linalg.depthwise_conv_2d_nchw_chw {{.*}} ins(%[[PART]], %arg1 :
func.func @strided(%x: tensor<1x2x4x4xf32>, %w: tensor<2x3x3xf32>, %e: tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32> {
  // Only the rows: two columns are computed, so no loop over columns is dropped.
  %r = linalg.depthwise_conv_2d_nchw_chw {strides = dense<[2, 1]> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x2x4x4xf32>, tensor<2x3x3xf32>) outs(%e : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  return %r : tensor<1x2x1x2xf32>
}

// CHECK-LABEL: func.func @pooled
// CHECK:         %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [5, 3, 3, 2] [1, 1, 1, 1]
// CHECK:         linalg.pooling_nhwc_max {{.*}} ins(%[[PART]],
func.func @pooled(%x: tensor<5x4x5x2xi8>, %w: tensor<3x3xi8>, %e: tensor<5x1x1x2xi8>) -> tensor<5x1x1x2xi8> {
  %r = linalg.pooling_nhwc_max {strides = dense<7> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<5x4x5x2xi8>, tensor<3x3xi8>) outs(%e : tensor<5x1x1x2xi8>) -> tensor<5x1x1x2xi8>
  return %r : tensor<5x1x1x2xi8>
}

#in = affine_map<(o, k, n) -> (o * 3 + k, n)>
#window = affine_map<(o, k, n) -> (k)>
#out = affine_map<(o, k, n) -> (o, n)>
// CHECK-LABEL: func.func @generic
// CHECK:         tensor.extract_slice %arg0[0, 0] [2, 7] [1, 1]
func.func @generic(%x: tensor<4x7xf32>, %w: tensor<2xf32>, %e: tensor<1x7xf32>) -> tensor<1x7xf32> {
  %r = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<4x7xf32>, tensor<2xf32>) outs(%e : tensor<1x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x7xf32>
  return %r : tensor<1x7xf32>
}

// What IREE takes as it is: everything is read; a window of one pixel; a dilated window; a size that is not known.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     tensor.extract_slice
func.func @silent(%full: tensor<1x2x3x3xf32>, %x: tensor<1x2x2x2xf32>, %y: tensor<1x2x6x6xf32>, %z: tensor<1x2x?x?xf32>,
                  %one: tensor<2x1x1xf32>, %w: tensor<2x3x3xf32>, %e: tensor<1x2x1x1xf32>)
    -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) {
  %a = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%full, %w : tensor<1x2x3x3xf32>, tensor<2x3x3xf32>) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %b = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %one : tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %c = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : vector<2xi64>, dilations = dense<2> : vector<2xi64>}
      ins(%y, %w : tensor<1x2x6x6xf32>, tensor<2x3x3xf32>) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%z, %w : tensor<1x2x?x?xf32>, tensor<2x3x3xf32>) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  return %a, %b, %c, %d : tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>
}
