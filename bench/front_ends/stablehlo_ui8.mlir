func.func @main(%x: tensor<16x64xui8>, %y: tensor<64x16xui8>) -> tensor<16x16xui32> {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<16x64xui8>, tensor<64x16xui8>) -> tensor<16x16xui32>
  return %r : tensor<16x16xui32>
}
