func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %c = stablehlo.compare GE, %i, %j : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %z = stablehlo.constant dense<0.0> : tensor<64x64xf16>
  %r = stablehlo.select %c, %x, %z : tensor<64x64xi1>, tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}
