// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-convolve-groups)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @two_groups
// CHECK-COUNT-2: stablehlo.convolution{{.*}}feature_group_count = 1
// CHECK:         stablehlo.concatenate {{.*}}dim = 3
func.func @two_groups(%x: tensor<?x6x6x4xf32>, %w: tensor<3x3x2x6xf32>) -> tensor<?x4x4x6xf32> {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<?x6x6x4xf32>, tensor<3x3x2x6xf32>) -> tensor<?x4x4x6xf32>
  return %r : tensor<?x4x4x6xf32>
}

// CHECK-LABEL: @depthwise
// CHECK:         tensor.expand_shape
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK:           arith.mulf
// CHECK:         tensor.collapse_shape
func.func @depthwise(%x: tensor<?x6x6x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<?x4x4x4xf32> {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<?x6x6x4xf32>, tensor<3x3x1x4xf32>) -> tensor<?x4x4x4xf32>
  return %r : tensor<?x4x4x4xf32>
}

// All sizes are known; one group.
// CHECK-LABEL: @silent
// CHECK-COUNT-2: stablehlo.convolution
// CHECK-NOT:     stablehlo.concatenate
func.func @silent(%x: tensor<2x6x6x4xf32>, %y: tensor<?x6x6x4xf32>, %w: tensor<3x3x2x6xf32>, %v: tensor<3x3x4x6xf32>) -> (tensor<2x4x4x6xf32>, tensor<?x4x4x6xf32>) {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x6x6x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x4x4x6xf32>
  %s = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x6x6x4xf32>, tensor<3x3x4x6xf32>) -> tensor<?x4x4x6xf32>
  return %r, %s : tensor<2x4x4x6xf32>, tensor<?x4x4x6xf32>
}

// An image of unknown size needs no groups.
// CHECK-LABEL: @unsized
// CHECK-NOT:     stablehlo.convolution
// CHECK:         linalg.generic
func.func @unsized(%x: tensor<1x?x?x4xf32>, %w: tensor<3x3x4x6xf32>) -> tensor<1x?x?x6xf32> {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x?x?x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x?x?x6xf32>
  return %r : tensor<1x?x?x6xf32>
}
