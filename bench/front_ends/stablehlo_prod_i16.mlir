func.func @main(%x: tensor<16x64xi16>) -> tensor<16xi16> {
  %z = stablehlo.constant dense<1> : tensor<i16>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.multiply across dimensions = [1] : (tensor<16x64xi16>, tensor<i16>) -> tensor<16xi16>
  return %r : tensor<16xi16>
}
