func.func @main(%x: tensor<1x16x16x8xi8>, %w: tensor<3x3x8x16xi8>) -> tensor<1x16x16x16xi8> {
  %0 = stablehlo.convert %x : (tensor<1x16x16x8xi8>) -> tensor<1x16x16x8xf32>
  %1 = stablehlo.convert %w : (tensor<3x3x8x16xi8>) -> tensor<3x3x8x16xf32>
  %s = stablehlo.constant dense<0.0078125> : tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1x16x16x8xf32>
  %2 = stablehlo.multiply %0, %sb : tensor<1x16x16x8xf32>
  %3 = stablehlo.convolution(%2, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x16x16x16xf32>
  %4 = stablehlo.round_nearest_even %3 : tensor<1x16x16x16xf32>
  %lo = stablehlo.constant dense<-128.0> : tensor<f32>
  %hi = stablehlo.constant dense<127.0> : tensor<f32>
  %5 = stablehlo.clamp %lo, %4, %hi : (tensor<f32>, tensor<1x16x16x16xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
  %6 = stablehlo.convert %5 : (tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xi8>
  return %6 : tensor<1x16x16x16xi8>
}
