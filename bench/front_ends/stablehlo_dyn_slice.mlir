func.func @main(%x: tensor<64x64xi8>, %i: tensor<i32>, %u: tensor<1x64xi8>) -> tensor<64x64xi8> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %z : (tensor<64x64xi8>, tensor<1x64xi8>, tensor<i32>, tensor<i32>) -> tensor<64x64xi8>
  return %0 : tensor<64x64xi8>
}
