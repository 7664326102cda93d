func.func @f() -> tensor<8xf32> {
  %x = util.unfoldable_constant dense<[0, 1, 2, 3, 3, 2, 1, 0]> : tensor<8xi2>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi2>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: i2, %out: f32):
    %a = arith.extui %in : i2 to i32
    %b = arith.uitofp %a : i32 to f32
    linalg.yield %b : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
