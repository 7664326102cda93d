func.func @main(%x: tensor<16x64xi1>) -> tensor<16xi1> {
  %z = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.or across dimensions = [1] : (tensor<16x64xi1>, tensor<i1>) -> tensor<16xi1>
  return %r : tensor<16xi1>
}
