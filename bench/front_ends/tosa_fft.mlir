func.func @main(%x: tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>) {
  %a, %b = "tosa.rfft2d"(%x) : (tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>)
  return %a, %b : tensor<1x8x5xf32>, tensor<1x8x5xf32>
}
