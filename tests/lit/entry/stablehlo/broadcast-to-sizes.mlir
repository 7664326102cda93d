// RUN: fissile-opt %s --fissile-broadcast-to-sizes 2>/dev/null | FileCheck %s

// The size is that of another argument of the same call: it is read from the tensor.
// CHECK-LABEL: @wrapped
// CHECK-SAME:  (%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<?x4xf32>)
// CHECK:       %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK:       tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[COLUMN:.*]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
func.func private @wrapped(%n: tensor<i32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %one = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %one, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r = call @wrapped(%n, %x) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A size that the caller gives is read from its tensor.
// CHECK-LABEL: @given
// CHECK:       tensor.extract
// CHECK:       arith.index_cast
// CHECK:       linalg.generic
func.func @given(%x: tensor<1x3xui8>, %s: tensor<2xi64>) -> tensor<?x3xui8> {
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xui8>, tensor<2xi64>) -> tensor<?x3xui8>
  return %r : tensor<?x3xui8>
}

// Static sizes IREE takes.
// CHECK-LABEL: @stays
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @stays(%x: tensor<3xf32>, %s: tensor<2xi32>) -> tensor<2x3xf32> {
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
