func.func @main(%x: tensor<4x64xf32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) {
  %v, %i = chlo.top_k(%x, k = 5) : tensor<4x64xf32> -> (tensor<4x5xf32>, tensor<4x5xi32>)
  return %v, %i : tensor<4x5xf32>, tensor<4x5xi32>
}
