// RUN: fissile-opt %s --fissile-order-broadcast-dims 2>/dev/null | FileCheck %s

// CHECK-LABEL: @circle
// CHECK: stablehlo.transpose %{{.*}}, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NOT: stablehlo.broadcast_in_dim
func.func @circle(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %r : tensor<4x2x3xf32>
}

// CHECK-LABEL: @constant_shape
// CHECK: stablehlo.transpose %{{.*}}, dims = [2, 0, 1] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
// CHECK: tensor.cast
func.func @constant_shape(%x: tensor<2x2x2xf32>) -> tensor<?x?x?xf32> {
  %s = stablehlo.constant dense<2> : tensor<3xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1, 2, 0] : (tensor<2x2x2xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Its own inverse: IREE is right.
// CHECK-LABEL: @exchange
// CHECK: stablehlo.broadcast_in_dim
func.func @exchange(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  return %r : tensor<4x3x2xf32>
}

// One dimension grows, so IREE makes no transpose.
// CHECK-LABEL: @grows
// CHECK: stablehlo.broadcast_in_dim
func.func @grows(%x: tensor<1x2x2xf32>) -> tensor<2x2x2xf32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
  return %r : tensor<2x2x2xf32>
}
