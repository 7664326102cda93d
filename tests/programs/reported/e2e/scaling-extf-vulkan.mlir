func.func @f(%a: tensor<4xi8>, %s: tensor<4xi8>) -> tensor<4xf32> {
  %sf = tensor.bitcast %s : tensor<4xi8> to tensor<4xf8E8M0FNU>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a, %sf : tensor<4xi8>, tensor<4xf8E8M0FNU>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: i8, %sc: f8E8M0FNU, %out: f32):
    %t = arith.trunci %in : i8 to i4
    %b = arith.bitcast %t : i4 to f4E2M1FN
    %x = arith.scaling_extf %b, %sc : f4E2M1FN, f8E8M0FNU to f32
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
