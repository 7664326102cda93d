func.func @main(%x: tensor<1x14x14x16xi8>) -> tensor<1x7x7x16xi8> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %c = "tosa.avg_pool2d"(%x, %z, %z) <{acc_type = i32, kernel = array<i64: 3, 3>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>}> : (tensor<1x14x14x16xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x7x7x16xi8>
  return %c : tensor<1x7x7x16xi8>
}
