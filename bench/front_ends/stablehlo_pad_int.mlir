func.func @main(%x: tensor<6x10xi8>) -> tensor<11x19xi8> {
  %z = stablehlo.constant dense<7> : tensor<i8>
  %r = stablehlo.pad %x, %z, low = [0, 0], high = [0, 0], interior = [1, 1] : (tensor<6x10xi8>, tensor<i8>) -> tensor<11x19xi8>
  return %r : tensor<11x19xi8>
}
