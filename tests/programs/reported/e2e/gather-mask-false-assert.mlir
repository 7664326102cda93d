func.func @f() -> tensor<2x2xi32> {
  %s = util.unfoldable_constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %o = util.unfoldable_constant dense<[[99, 98], [97, 96]]> : tensor<2x2xi32>
  %i = util.unfoldable_constant dense<[1, 7]> : tensor<2xi32>
  %m = util.unfoldable_constant dense<[true, false]> : tensor<2xi1>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %i, %m : tensor<2x2xi32>, tensor<2xi32>, tensor<2xi1>) outs(%o : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
