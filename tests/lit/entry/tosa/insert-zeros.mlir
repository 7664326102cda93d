// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-insert-zeros)' | FileCheck %s

// CHECK-LABEL: func.func @strides
// CHECK:         %[[APART:.*]] = tosa.reshape %arg0, {{.*}} -> tensor<1x5x1x4x1x3xi16>
// CHECK:         %[[FILLED:.*]] = tosa.pad %[[APART]], {{.*}} -> tensor<1x5x2x4x3x3xi16>
// CHECK:         %[[WHOLE:.*]] = tosa.reshape %[[FILLED]], {{.*}} -> tensor<1x10x12x3xi16>
// CHECK:         %[[KEPT:.*]] = tosa.slice %[[WHOLE]], {{.*}} -> tensor<1x9x10x3xi16>
// CHECK:         tosa.reverse
// CHECK:         tosa.reverse
// CHECK:         tosa.conv2d %[[KEPT]], {{.*}} pad([2, 2, 1, 2]) stride([1, 1]){{.*}} -> tensor<1x11x11x4xi48>
func.func @strides(%x: tensor<1x5x4x3xi16>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi48>) -> tensor<1x11x11x4xi48> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = "tosa.transpose_conv2d"(%x, %w, %b, %z, %n) <{acc_type = i48, out_pad = array<i64: 0, 0, -1, 0>, stride = array<i64: 2, 3>}>
    : (tensor<1x5x4x3xi16>, tensor<4x3x3x3xi8>, tensor<4xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x11x11x4xi48>
  return %r : tensor<1x11x11x4xi48>
}

// Sums of 32 bits IREE takes, and no strides too.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT:     tosa.conv2d
// CHECK:         tosa.transpose_conv2d
func.func @narrow(%x: tensor<1x5x4x3xi8>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi32>) -> tensor<1x11x9x4xi32> {
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = "tosa.transpose_conv2d"(%x, %w, %b, %n, %n) <{acc_type = i32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}>
    : (tensor<1x5x4x3xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x11x9x4xi32>
  return %r : tensor<1x11x9x4xi32>
}

// CHECK-LABEL: func.func @dense
// CHECK-NOT:     tosa.conv2d
// CHECK:         tosa.transpose_conv2d
func.func @dense(%x: tensor<1x5x4x3xi16>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi48>) -> tensor<1x7x6x4xi48> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = "tosa.transpose_conv2d"(%x, %w, %b, %z, %n) <{acc_type = i48, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}>
    : (tensor<1x5x4x3xi16>, tensor<4x3x3x3xi8>, tensor<4xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x7x6x4xi48>
  return %r : tensor<1x7x6x4xi48>
}
