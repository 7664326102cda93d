func.func @main(%s: tensor<?x4xf32>, %ix: tensor<?xi32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %ix : tensor<?x4xf32>, tensor<?xi32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
