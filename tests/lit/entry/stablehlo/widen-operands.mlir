// RUN: fissile-opt %s --fissile-widen-operands 2>/dev/null | FileCheck %s

// CHECK-LABEL: @depthwise
// CHECK: arith.extsi %{{.*}} : tensor<1x4x4x2xi8> to tensor<1x4x4x2xi32>
// CHECK: arith.extsi %{{.*}} : tensor<2x2x1x2xi8> to tensor<2x2x1x2xi32>
// CHECK: stablehlo.convolution{{.*}} : (tensor<1x4x4x2xi32>, tensor<2x2x1x2xi32>) -> tensor<1x3x3x2xi32>
func.func @depthwise(%x: tensor<1x4x4x2xi8>, %k: tensor<2x2x1x2xi8>) -> tensor<1x3x3x2xi32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x4x2xi8>, tensor<2x2x1x2xi8>) -> tensor<1x3x3x2xi32>
  return %r : tensor<1x3x3x2xi32>
}

// IREE drops the conversion.
// CHECK-LABEL: @unsigned
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2x4xui8>) -> tensor<2x4xi8>
// CHECK: arith.uitofp %{{.*}} : tensor<2x4xi8> to tensor<2x4xf32>
// CHECK: stablehlo.dot_general
func.func @unsigned(%x: tensor<2x4xui8>, %w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %c = stablehlo.convert %x : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %r = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: @stays
// CHECK-NOT: arith
// CHECK: return
func.func @stays(%x: tensor<2x4xi8>, %w: tensor<4x2xui8>, %i: tensor<1x4x4x2xi8>, %k: tensor<2x2x1x4xi8>)
    -> (tensor<2x2xi32>, tensor<2x2xui8>, tensor<1x3x3x4xi32>) {
  %s = stablehlo.convert %w : (tensor<4x2xui8>) -> tensor<4x2xi8>
  %0 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] : (tensor<2x4xi8>, tensor<4x2xi8>) -> tensor<2x2xi32>
  %1 = stablehlo.dot_general %w, %w, contracting_dims = [0] x [0] : (tensor<4x2xui8>, tensor<4x2xui8>) -> tensor<2x2xui8>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x4x2xi8>, tensor<2x2x1x4xi8>) -> tensor<1x3x3x4xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<2x2xui8>, tensor<1x3x3x4xi32>
}
