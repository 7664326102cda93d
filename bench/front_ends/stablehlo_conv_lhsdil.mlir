func.func @main(%x: tensor<1x8x8x8xf16>, %w: tensor<3x3x8x16xf16>) -> tensor<1x17x17x16xf16> {
  %3 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x8xf16>, tensor<3x3x8x16xf16>) -> tensor<1x17x17x16xf16>
  return %3 : tensor<1x17x17x16xf16>
}
