func.func @main(%x: tensor<16x64xi8>, %i: tensor<5x2xi32>) -> tensor<5xi8> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x64xi8>, tensor<5x2xi32>) -> tensor<5xi8>
  return %r : tensor<5xi8>
}
