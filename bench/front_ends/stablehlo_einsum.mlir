func.func @main(%q: tensor<2x16x4x8xi8>, %k: tensor<2x16x4x8xi8>) -> tensor<2x4x16x16xi32> {
  %r = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x16x4x8xi8>, tensor<2x16x4x8xi8>) -> tensor<2x4x16x16xi32>
  return %r : tensor<2x4x16x16xi32>
}
