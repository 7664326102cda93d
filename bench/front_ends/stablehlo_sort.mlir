func.func @main(%x: tensor<16x128xi8>) -> tensor<16x128xi8> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<16x128xi8>) -> tensor<16x128xi8>
  return %0 : tensor<16x128xi8>
}
