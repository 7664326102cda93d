func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = chlo.erf_inv %x : tensor<64xf32> -> tensor<64xf32>
  %1 = chlo.lgamma %0 : tensor<64xf32> -> tensor<64xf32>
  %2 = chlo.digamma %1 : tensor<64xf32> -> tensor<64xf32>
  %3 = chlo.erfc %2 : tensor<64xf32> -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
