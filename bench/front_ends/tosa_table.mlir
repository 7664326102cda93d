func.func @main(%x: tensor<4x64xi8>, %t: tensor<256xi8>) -> tensor<4x64xi8> {
  %r = "tosa.table"(%x, %t) : (tensor<4x64xi8>, tensor<256xi8>) -> tensor<4x64xi8>
  return %r : tensor<4x64xi8>
}
