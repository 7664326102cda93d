func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<8x3x3x16xf32>, %b: tensor<8xf32>) -> tensor<1x17x17x8xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "tosa.transpose_conv2d"(%x, %w, %b, %z, %z) <{acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<1x8x8x16xf32>, tensor<8x3x3x16xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x17x17x8xf32>
  return %c : tensor<1x17x17x8xf32>
}
