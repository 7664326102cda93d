func.func @main(%x: tensor<32x64xi64>, %w: tensor<64x32xi64>) -> tensor<32x32xi64> {
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xi64>, tensor<64x32xi64>) -> tensor<32x32xi64>
  return %b : tensor<32x32xi64>
}
