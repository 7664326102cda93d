func.func @f(%s: tensor<2x2xi32>, %i: tensor<2x1xi32>, %m: tensor<2xi1>, %o: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %i, %m : tensor<2x2xi32>, tensor<2x1xi32>, tensor<2xi1>) outs(%o : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
