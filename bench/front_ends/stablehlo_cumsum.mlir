func.func @main(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1,256>, window_strides = array<i64: 1,1>, padding = dense<[[0,0],[255,0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x256xf32>, tensor<f32>) -> tensor<4x256xf32>
  return %0 : tensor<4x256xf32>
}
