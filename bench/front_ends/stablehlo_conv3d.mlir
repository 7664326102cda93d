func.func @main(%x: tensor<1x8x8x8x4xf16>, %w: tensor<3x3x3x4x8xf16>) -> tensor<1x6x6x6x8xf16> {
  %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {stride = [1,1,1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x8x4xf16>, tensor<3x3x3x4x8xf16>) -> tensor<1x6x6x6x8xf16>
  return %2 : tensor<1x6x6x6x8xf16>
}
