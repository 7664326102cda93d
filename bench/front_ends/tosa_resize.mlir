func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x15x15x4xi32> {
  %s = "tosa.const_shape"() <{values = dense<[4, 2, 4, 2]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %o = "tosa.const_shape"() <{values = dense<0> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %b = "tosa.const_shape"() <{values = dense<0> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %r = "tosa.resize"(%x, %s, %o, %b) <{mode = #tosa.resize_mode<BILINEAR>}> : (tensor<1x8x8x4xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x15x15x4xi32>
  return %r : tensor<1x15x15x4xi32>
}
