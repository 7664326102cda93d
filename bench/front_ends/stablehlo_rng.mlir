func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui32>) {
  %a, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui32>)
  return %a, %b : tensor<2xui64>, tensor<8x8xui32>
}
