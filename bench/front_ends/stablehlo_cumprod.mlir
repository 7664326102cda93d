func.func @main(%x: tensor<4x128xf16>) -> tensor<4x128xf16> {
  %c = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1,128>, window_strides = array<i64: 1,1>, padding = dense<[[0,0],[127,0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %m = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %m : tensor<f16>
  }) : (tensor<4x128xf16>, tensor<f16>) -> tensor<4x128xf16>
  return %0 : tensor<4x128xf16>
}
