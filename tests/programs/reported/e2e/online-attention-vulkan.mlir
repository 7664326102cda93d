func.func @f(%q: tensor<1x3x4xf32>, %k: tensor<1x3x4xf32>, %v: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<1x3x4xf32>
  %e1 = tensor.empty() : tensor<1x3xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %mx = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<1x3xf32>) -> tensor<1x3xf32>
  %sm = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x3xf32>) -> tensor<1x3xf32>
  %r:3 = iree_linalg_ext.online_attention <indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
      affine_map<(b, m, n, k1, k2) -> ()>, affine_map<(b, m, n, k1, k2) -> (b, m, n)>, affine_map<(b, m, n, k1, k2) -> (b, m)>,
      affine_map<(b, m, n, k1, k2) -> (b, m)>]> ins(%q, %k, %v, %scale : tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, f32)
      outs(%o, %mx, %sm : tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
    ^bb0(%s: f32):
      iree_linalg_ext.yield %s : f32
    } -> tensor<1x3x4xf32>, tensor<1x3xf32>, tensor<1x3xf32>
  return %r#0 : tensor<1x3x4xf32>
}
