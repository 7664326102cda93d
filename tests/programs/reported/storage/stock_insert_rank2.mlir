func.func @main(%x: tensor<4x?xf32>, %i: index, %j: index) -> tensor<4x?xf32> {
  %c = arith.constant 5.0 : f32
  %r = tensor.insert %c into %x[%i, %j] : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
