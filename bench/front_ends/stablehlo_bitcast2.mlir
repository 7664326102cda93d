func.func @main(%x: tensor<64x2xi16>) -> tensor<64xi32> {
  %r = stablehlo.bitcast_convert %x : (tensor<64x2xi16>) -> tensor<64xi32>
  return %r : tensor<64xi32>
}
