func.func @main(%x: tensor<16x64xf8E4M3FN>, %y: tensor<64x16xf8E4M3FN>) -> tensor<16x16xf32> {
  %a = stablehlo.convert %x : (tensor<16x64xf8E4M3FN>) -> tensor<16x64xf32>
  %b = stablehlo.convert %y : (tensor<64x16xf8E4M3FN>) -> tensor<64x16xf32>
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
