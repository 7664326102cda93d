func.func @main(%x: tensor<16x128xf16>, %y: tensor<16x128xi32>) -> (tensor<16x128xf16>, tensor<16x128xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<16x128xf16>, tensor<16x128xi32>) -> (tensor<16x128xf16>, tensor<16x128xi32>)
  return %0#0, %0#1 : tensor<16x128xf16>, tensor<16x128xi32>
}
