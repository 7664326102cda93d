func.func @f() -> tensor<4xi32> {
  %x = util.unfoldable_constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %u = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  %i = util.unfoldable_constant dense<[[1], [3]]> : tensor<2x1xi32>
  %m = util.unfoldable_constant dense<[true, false]> : tensor<2xi1>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%u, %i, %m : tensor<2xi32>, tensor<2x1xi32>, tensor<2xi1>) outs(%x : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
