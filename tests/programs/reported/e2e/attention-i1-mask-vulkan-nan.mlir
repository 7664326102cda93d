func.func @f() -> tensor<1x4x4xf32> {
  %e = tensor.empty() : tensor<1x4x4xf32>
  %q = util.unfoldable_constant dense<0.5> : tensor<1x4x4xf32>
  %k = util.unfoldable_constant dense<0.25> : tensor<1x4x4xf32>
  %v = util.unfoldable_constant dense<1.0> : tensor<1x4x4xf32>
  %m8 = util.unfoldable_constant dense<-1> : tensor<2xi8>
  %m = flow.tensor.bitcast %m8 : tensor<2xi8> -> tensor<1x4x4xi1, #iree_encoding.packed_storage>
  %s = arith.constant 0.5 : f32
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, k, l, n) -> (b, m, k)>, affine_map<(b, m, k, l, n) -> (b, l, k)>, affine_map<(b, m, k, l, n) -> (b, l, n)>,
      affine_map<(b, m, k, l, n) -> ()>, affine_map<(b, m, k, l, n) -> (b, m, l)>, affine_map<(b, m, k, l, n) -> (b, m, n)>]>
      ins(%q, %k, %v, %s, %m : tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>, f32, tensor<1x4x4xi1, #iree_encoding.packed_storage>)
      outs(%e : tensor<1x4x4xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<1x4x4xf32>
  return %r : tensor<1x4x4xf32>
}
