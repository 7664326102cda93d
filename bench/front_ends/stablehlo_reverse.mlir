func.func @main(%x: tensor<6x10xi8>) -> tensor<6x10xi8> {
  %r = stablehlo.reverse %x, dims = [0, 1] : tensor<6x10xi8>
  return %r : tensor<6x10xi8>
}
