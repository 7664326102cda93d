func.func @main(%x: tensor<1x32x32x8xi8>) -> tensor<1x16x16x8xi8> {
  %c = stablehlo.constant dense<-128> : tensor<i8>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1,3,3,1>, window_strides = array<i64: 1,2,2,1>, padding = dense<[[0,0],[0,1],[0,1],[0,0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %m = stablehlo.maximum %a, %b : tensor<i8>
    stablehlo.return %m : tensor<i8>
  }) : (tensor<1x32x32x8xi8>, tensor<i8>) -> tensor<1x16x16x8xi8>
  return %0 : tensor<1x16x16x8xi8>
}
