// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-swap-selections)' | FileCheck %s

// CHECK-LABEL: func.func @selected
// CHECK:         ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT:      %[[SELECTED:.*]] = stablehlo.compare GE, %[[B]], %[[A]]
// CHECK-NEXT:      %[[NOT:.*]] = stablehlo.not %[[SELECTED]]
// CHECK-NEXT:      stablehlo.return %[[NOT]]
func.func @selected(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %c: tensor<f32>) -> tensor<4x4xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// A window of which the largest element is taken, and not its place.
// CHECK-LABEL: func.func @largest
// CHECK-NOT:     stablehlo.not
func.func @largest(%x: tensor<4x4xf32>, %c: tensor<f32>) -> tensor<2x2xf32> {
  %r = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
