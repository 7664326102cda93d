func.func @f(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %s = linalg.fill ins(%z : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x16xf32>) outs(%e, %s : tensor<64x16xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32, %t: f32):
    %w = math.exp %a : f32
    %q = arith.addf %t, %w : f32
    linalg.yield %w, %q : f32, f32
  } -> (tensor<64x16xf32>, tensor<64xf32>)
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%r#0, %r#1 : tensor<64x16xf32>, tensor<64xf32>) outs(%e : tensor<64x16xf32>) {
  ^bb0(%a: f32, %t: f32, %out: f32):
    %w = arith.divf %a, %t : f32
    linalg.yield %w : f32
  } -> tensor<64x16xf32>
  return %d : tensor<64x16xf32>
}
