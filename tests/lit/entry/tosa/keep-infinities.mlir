// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-keep-infinities)' | FileCheck %s

// CHECK-LABEL: func.func @largest
// CHECK:         %[[START:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[START]] : f32) outs({{.*}} : tensor<?xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x8xf32>) outs(%[[INIT]] : tensor<?xf32>)
// CHECK:           arith.maximumf
// CHECK:         tensor.expand_shape %[[R]] {{\[}}[0, 1]]
func.func @largest(%x: tensor<?x8xf32>) -> tensor<?x1xf32> {
  %r = "tosa.reduce_max"(%x) <{axis = 1 : i32}> : (tensor<?x8xf32>) -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

// CHECK-LABEL: func.func @first_axis
// CHECK:         arith.constant 0x7C00 : f16
// CHECK:           arith.minimumf
// CHECK:         tensor.expand_shape {{.*}} {{\[}}[0, 1], [2]] output_shape [1, 4, 5]
func.func @first_axis(%x: tensor<3x4x5xf16>) -> tensor<1x4x5xf16> {
  %r = "tosa.reduce_min"(%x) <{axis = 0 : i32}> : (tensor<3x4x5xf16>) -> tensor<1x4x5xf16>
  return %r : tensor<1x4x5xf16>
}

// CHECK-LABEL: func.func @vector
// CHECK:         tensor.expand_shape {{.*}} [] output_shape [1]
func.func @vector(%x: tensor<8xf32>) -> tensor<1xf32> {
  %r = "tosa.reduce_max"(%x) <{axis = 0 : i32}> : (tensor<8xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}

// CHECK-LABEL: func.func @pool
// CHECK:         %[[START:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         %[[PADDED:.*]] = tensor.pad %arg0 low[0, 1, 0, 0] high[0, 1, 2, 0]
// CHECK:           tensor.yield %[[START]] : f32
// CHECK:         linalg.pooling_nhwc_max {{.*}}strides = dense<2>{{.*}} ins(%[[PADDED]], {{.*}} -> tensor<1x3x2x5xf32>
func.func @pool(%x: tensor<1x4x4x5xf32>) -> tensor<1x3x2x5xf32> {
  %r = "tosa.max_pool2d"(%x) <{kernel = array<i64: 2, 4>, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 2, 2>}> : (tensor<1x4x4x5xf32>) -> tensor<1x3x2x5xf32>
  return %r : tensor<1x3x2x5xf32>
}

// Bounded from the side that the identity stands on, by a clamp, by integers, by one operand of a maximum; integers alone have no infinity.
// CHECK-LABEL: func.func @bounded
// CHECK-NOT:     linalg
// CHECK:         return
func.func @bounded(%x: tensor<2x8xf32>, %i: tensor<2x8xi8>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xi8>) {
  %c = "tosa.clamp"(%x) <{min_val = 0.0 : f32, max_val = 0x7F800000 : f32}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %s = "tosa.reverse"(%c) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = "tosa.reduce_max"(%s) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %f = "tosa.cast"(%i) : (tensor<2x8xi8>) -> tensor<2x8xf32>
  %1 = "tosa.reduce_min"(%f) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %m = "tosa.maximum"(%x, %f) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = "tosa.reduce_max"(%m) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %3 = "tosa.reduce_max"(%i) <{axis = 1 : i32}> : (tensor<2x8xi8>) -> tensor<2x1xi8>
  return %0, %1, %2, %3 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xi8>
}

// CHECK-LABEL: func.func @bounded_on_the_other_side
// CHECK-NOT:     tosa.reduce_min
// CHECK:         arith.minimumf
func.func @bounded_on_the_other_side(%x: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %c = "tosa.clamp"(%x) <{min_val = 0.0 : f32, max_val = 0x7F800000 : f32}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = "tosa.reduce_min"(%c) <{axis = 1 : i32}> : (tensor<2x8xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}
