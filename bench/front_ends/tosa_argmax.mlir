func.func @main(%x: tensor<4x64xi8>) -> tensor<4xi32> {
  %r = "tosa.argmax"(%x) <{axis = 1 : i32}> : (tensor<4x64xi8>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
