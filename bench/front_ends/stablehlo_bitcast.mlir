func.func @main(%x: tensor<64xf32>) -> tensor<64x4xi8> {
  %r = stablehlo.bitcast_convert %x : (tensor<64xf32>) -> tensor<64x4xi8>
  return %r : tensor<64x4xi8>
}
