func.func @f(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %v, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %s = arith.constant 0.5 : f32
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, n)>]>
      ins(%q, %k, %v, %s : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>, f32) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
