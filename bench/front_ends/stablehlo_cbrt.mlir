func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.cbrt %x : tensor<64xf32>
  %1 = stablehlo.log_plus_one %0 : tensor<64xf32>
  %2 = stablehlo.exponential_minus_one %1 : tensor<64xf32>
  %3 = stablehlo.tan %2 : tensor<64xf32>
  %4 = stablehlo.atan2 %3, %x : tensor<64xf32>
  return %4 : tensor<64xf32>
}
