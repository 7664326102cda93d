func.func @main(%x: tensor<2x100x16xi8>, %w: tensor<5x16x32xi8>) -> tensor<2x96x32xi32> {
  %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x100x16xi8>, tensor<5x16x32xi8>) -> tensor<2x96x32xi32>
  return %2 : tensor<2x96x32xi32>
}
