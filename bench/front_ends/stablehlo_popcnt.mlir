func.func @main(%x: tensor<64xi8>, %y: tensor<64xi8>) -> tensor<64xi8> {
  %0 = stablehlo.popcnt %x : tensor<64xi8>
  %1 = stablehlo.count_leading_zeros %y : tensor<64xi8>
  %2 = stablehlo.remainder %0, %1 : tensor<64xi8>
  %3 = stablehlo.shift_right_arithmetic %2, %0 : tensor<64xi8>
  %4 = stablehlo.power %3, %0 : tensor<64xi8>
  return %4 : tensor<64xi8>
}
