// RUN: fissile-opt %s --fissile-lower-dynamic-shapes 2>/dev/null | FileCheck %s

// CHECK-LABEL: @reshape
// CHECK: tensor.reshape %{{.*}}(%{{.*}}) : (tensor<4x?xi8>, tensor<2xi32>) -> tensor<?x8xi8>
func.func @reshape(%x: tensor<4x?xui8>, %s: tensor<2xi32>) -> tensor<?x8xui8> {
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<4x?xui8>, tensor<2xi32>) -> tensor<?x8xui8>
  return %r : tensor<?x8xui8>
}

// An amount below 0 takes elements off.
// CHECK-LABEL: @pad
// CHECK: arith.maxsi
// CHECK: tensor.pad
// CHECK: tensor.extract_slice
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %r = stablehlo.dynamic_pad %x, %v, %zero, %n, %zero : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @crop
// CHECK: tensor.pad %arg0 low[0, 0] high[1, 0] {
// CHECK: tensor.extract_slice %{{.*}}[0, 1]
// CHECK: tensor.cast %{{.*}} to tensor<?x3xf32>
func.func @crop(%x: tensor<?x4xf32>, %v: tensor<f32>) -> tensor<?x3xf32> {
  %r = stablehlo.pad %x, %v, low = [0, -1], high = [1, 0], interior = [0, 0] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// IREE pads an unknown size itself.
// CHECK-LABEL: @widened
// CHECK: stablehlo.pad
func.func @widened(%x: tensor<?x4xf32>, %v: tensor<f32>) -> tensor<?x5xf32> {
  %r = stablehlo.pad %x, %v, low = [0, 1], high = [1, 0], interior = [0, 0] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

// Static sizes IREE takes; padding between elements is not written.
// CHECK-LABEL: @stays
// CHECK: stablehlo.dynamic_reshape
// CHECK: stablehlo.dynamic_pad
// CHECK: stablehlo.dynamic_pad
func.func @stays(%x: tensor<4x?xf32>, %y: tensor<4xf32>, %v: tensor<f32>, %s: tensor<2xi32>, %n: tensor<1xi32>)
    -> (tensor<2x8xf32>, tensor<?xf32>, tensor<?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4x?xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  %1 = stablehlo.dynamic_pad %y, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.dynamic_pad %y, %v, %one, %one, %zero : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<?xf32>, tensor<?xf32>
}
