func.func @main(%x: tensor<8x64xi8>, %w: tensor<64x10xi8>) -> tensor<1x8x10xi32> {
  %izp = "tosa.const"() {values = dense<-3> : tensor<1xi8>} : () -> tensor<1xi8>
  %wzp = "tosa.const"() {values = dense<2> : tensor<1xi8>} : () -> tensor<1xi8>
  %sh = "tosa.const_shape"() <{values = dense<[1,8,64]> : tensor<3xindex>}> : () -> !tosa.shape<3>
  %sw = "tosa.const_shape"() <{values = dense<[1,64,10]> : tensor<3xindex>}> : () -> !tosa.shape<3>
  %x3 = "tosa.reshape"(%x, %sh) : (tensor<8x64xi8>, !tosa.shape<3>) -> tensor<1x8x64xi8>
  %w3 = "tosa.reshape"(%w, %sw) : (tensor<64x10xi8>, !tosa.shape<3>) -> tensor<1x64x10xi8>
  %r = "tosa.matmul"(%x3, %w3, %izp, %wzp) : (tensor<1x8x64xi8>, tensor<1x64x10xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x10xi32>
  return %r : tensor<1x8x10xi32>
}
