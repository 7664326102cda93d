func.func @main(%i: tensor<i32>, %x: tensor<64x64xi8>) -> tensor<64x64xf32> {
  %r = "stablehlo.case"(%i) ({
    %a = stablehlo.convert %x : (tensor<64x64xi8>) -> tensor<64x64xf32>
    stablehlo.return %a : tensor<64x64xf32>
  }, {
    %a = stablehlo.convert %x : (tensor<64x64xi8>) -> tensor<64x64xf32>
    %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %b : tensor<64x64xf32>
  }) : (tensor<i32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
