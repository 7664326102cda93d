func.func @main(%x: tensor<?x8x16x16xi8>, %w: tensor<16x8x3x3xi8>) -> tensor<?x16x14x14xf32> {
  %0 = stablehlo.convert %x : (tensor<?x8x16x16xi8>) -> tensor<?x8x16x16xf32>
  %1 = stablehlo.convert %w : (tensor<16x8x3x3xi8>) -> tensor<16x8x3x3xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x8x16x16xf32>, tensor<16x8x3x3xf32>) -> tensor<?x16x14x14xf32>
  return %2 : tensor<?x16x14x14xf32>
}
