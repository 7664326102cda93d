func.func @main(%x: tensor<1x16x16x16xi8>, %w: tensor<3x3x4x32xi8>) -> tensor<1x14x14x32xf32> {
  %0 = stablehlo.convert %x : (tensor<1x16x16x16xi8>) -> tensor<1x16x16x16xf32>
  %1 = stablehlo.convert %w : (tensor<3x3x4x32xi8>) -> tensor<3x3x4x32xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x16x16x16xf32>, tensor<3x3x4x32xf32>) -> tensor<1x14x14x32xf32>
  return %2 : tensor<1x14x14x32xf32>
}
