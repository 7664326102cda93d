func.func @main(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = chlo.acos %x : tensor<64xf16> -> tensor<64xf16>
  %1 = chlo.sinh %0 : tensor<64xf16> -> tensor<64xf16>
  %2 = chlo.asinh %1 : tensor<64xf16> -> tensor<64xf16>
  %3 = chlo.tan %2 : tensor<64xf16> -> tensor<64xf16>
  return %3 : tensor<64xf16>
}
