// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-scatter-windows)' | FileCheck %s

// Two rows of three elements each: six elements with an index of two numbers.
// CHECK-LABEL: func.func @parts
// CHECK:         stablehlo.select
// CHECK:         %[[AT:.*]] = stablehlo.concatenate {{.*}} -> tensor<6x2xi64>
// CHECK:         "stablehlo.scatter"(%{{.*}}, %[[AT]], %{{.*}}) <{{.*}}inserted_window_dims = [0, 1]
// CHECK:         (tensor<5x6xf32>, tensor<6x2xi64>, tensor<6xf32>) -> tensor<5x6xf32>
func.func @parts(%a: tensor<4x6xf32>, %i: tensor<2x2xi32>, %u: tensor<2x1x3xf32>) -> tensor<4x6xf32> {
  %r = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>} : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2x1x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// Whole rows stay rows.
// CHECK-LABEL: func.func @rows
// CHECK:         (tensor<5x6xf32>, tensor<2x1xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
func.func @rows(%a: tensor<4x6xf32>, %i: tensor<1xi32>, %u: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %r = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>} : (tensor<4x6xf32>, tensor<1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// One scatter for each tensor, of which each result is computed alone.
// CHECK-LABEL: func.func @pairs
// CHECK:         stablehlo.add {{.*}} : tensor<f32>
// CHECK:         stablehlo.maximum {{.*}} : tensor<i32>
func.func @pairs(%a: tensor<8xf32>, %b: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>, %v: tensor<3xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %r:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) ({
  ^bb0(%x: tensor<f32>, %p: tensor<i32>, %y: tensor<f32>, %q: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    %t = stablehlo.maximum %p, %q : tensor<i32>
    stablehlo.return %s, %t : tensor<f32>, tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<8xf32>, tensor<8xi32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}

// IREE lowers whole rows, and one window at a known place.
// CHECK-LABEL: func.func @lowered
// CHECK:         (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
// CHECK:         (tensor<4x6xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<4x6xf32>
func.func @lowered(%a: tensor<4x6xf32>, %i: tensor<3x1xi32>, %u: tensor<3x6xf32>, %v: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %r = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %at = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %s = "stablehlo.scatter"(%r, %at, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>} : (tensor<4x6xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// A window in front of what is addressed, beside a batch; only one number: IREE lowers it.
// CHECK-LABEL: func.func @in_front
// CHECK:         (tensor<7x1x4xf32>, tensor<6x3xi64>, tensor<6xf32>) -> tensor<7x1x4xf32>
// CHECK:         (tensor<6x1x4xf32>, tensor<2x1xi32>, tensor<2x6x1xf32>) -> tensor<6x1x4xf32>
func.func @in_front(%a: tensor<6x1x4xf32>, %i: tensor<6x1x1xi32>, %u: tensor<6x1x1xf32>, %j: tensor<2x1xi32>, %v: tensor<2x6x1xf32>) -> tensor<6x1x4xf32> {
  %r = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>} : (tensor<6x1x4xf32>, tensor<6x1x1xi32>, tensor<6x1x1xf32>) -> tensor<6x1x4xf32>
  %s = "stablehlo.scatter"(%r, %j, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>} : (tensor<6x1x4xf32>, tensor<2x1xi32>, tensor<2x6x1xf32>) -> tensor<6x1x4xf32>
  return %s : tensor<6x1x4xf32>
}
