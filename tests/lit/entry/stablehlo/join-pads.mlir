// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-join-pads)' | FileCheck %s

// CHECK-LABEL: func.func @joined
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK:         stablehlo.pad %[[X]], %{{.*}}, low = [3], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<11xf32>
func.func @joined(%x: tensor<4xf32>) -> tensor<11xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %zero, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %r = stablehlo.pad %y, %zero, low = [1], high = [-1], interior = [1] : (tensor<6xf32>, tensor<f32>) -> tensor<11xf32>
  return %r : tensor<11xf32>
}

// Another value; and nothing in front of the elements in the dimension with gaps.
// CHECK-LABEL: func.func @right
// CHECK-COUNT-4: stablehlo.pad
func.func @right(%x: tensor<4x2xf32>) -> (tensor<9x3xf32>, tensor<7x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.pad %x, %one, low = [1, 0], high = [0, 1], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<5x3xf32>
  %r = stablehlo.pad %y, %zero, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<9x3xf32>
  %z = stablehlo.pad %x, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x3xf32>
  %s = stablehlo.pad %z, %zero, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<7x3xf32>
  return %r, %s : tensor<9x3xf32>, tensor<7x3xf32>
}
