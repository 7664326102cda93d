func.func @main(%u: tensor<?x4xf32>, %ix: tensor<?x1xi32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %ix : tensor<?x4xf32>, tensor<?x1xi32>) outs(%o : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32): iree_linalg_ext.yield %a : f32 } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
