// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-windows)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @pooled
// CHECK:         tensor.pad %{{.*}} low[0, 1] high[0, 1]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK:           arith.maxui
// CHECK:         -> tensor<?x4xi8>
func.func @pooled(%x: tensor<?x7xui8>, %init: tensor<ui8>) -> tensor<?x4xui8> {
  %r = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %m = stablehlo.maximum %a, %b : tensor<ui8>
    stablehlo.return %m : tensor<ui8>
  }) : (tensor<?x7xui8>, tensor<ui8>) -> tensor<?x4xui8>
  return %r : tensor<?x4xui8>
}

// Sizes that are known; a region of two ops.
// CHECK-LABEL: @silent
// CHECK-COUNT-2: stablehlo.reduce_window
func.func @silent(%x: tensor<2x7xf32>, %y: tensor<?x7xf32>, %init: tensor<f32>) -> (tensor<2x7xf32>, tensor<?x7xf32>) {
  %r = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 7>, padding = dense<[[0, 0], [6, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x7xf32>, tensor<f32>) -> tensor<2x7xf32>
  %s = "stablehlo.reduce_window"(%y, %init) <{window_dimensions = array<i64: 1, 7>, padding = dense<[[0, 0], [6, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %n = stablehlo.abs %b : tensor<f32>
    %m = stablehlo.add %a, %n : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<?x7xf32>, tensor<f32>) -> tensor<?x7xf32>
  return %r, %s : tensor<2x7xf32>, tensor<?x7xf32>
}
