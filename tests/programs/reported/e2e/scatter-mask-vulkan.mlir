func.func @f(%x: tensor<4xi32>, %u: tensor<2xi32>, %i: tensor<2x1xi32>, %m: tensor<2xi1>) -> tensor<4xi32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%u, %i, %m : tensor<2xi32>, tensor<2x1xi32>, tensor<2xi1>) outs(%x : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
