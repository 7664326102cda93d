func.func @main(%x: tensor<4x32x64xi8>, %w: tensor<4x64x48xi8>) -> tensor<4x32x48xi32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x32x64xi8>, tensor<4x64x48xi8>) -> tensor<4x32x48xi32>
  return %0 : tensor<4x32x48xi32>
}
