func.func @main(%x: tensor<6x10xi8>, %y: tensor<6x3xi8>) -> tensor<6x13xf32> {
  %c = stablehlo.concatenate %x, %y, dim = 1 : (tensor<6x10xi8>, tensor<6x3xi8>) -> tensor<6x13xi8>
  %r = stablehlo.convert %c : (tensor<6x13xi8>) -> tensor<6x13xf32>
  return %r : tensor<6x13xf32>
}
