func.func @main(%x: tensor<16x64xi8>) -> tensor<18x31xi8> {
  %z = stablehlo.constant dense<7> : tensor<i8>
  %r = stablehlo.pad %x, %z, low = [1, -1], high = [1, -1], interior = [0, 0] : (tensor<16x64xi8>, tensor<i8>) -> tensor<18x62xi8>
  %s = stablehlo.slice %r [0:18, 0:62:2] : (tensor<18x62xi8>) -> tensor<18x31xi8>
  return %s : tensor<18x31xi8>
}
