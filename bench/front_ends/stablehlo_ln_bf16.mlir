func.func @main(%x: tensor<32x128xbf16>, %g: tensor<128xbf16>) -> tensor<32x128xbf16> {
  %xf = stablehlo.convert %x : (tensor<32x128xbf16>) -> tensor<32x128xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<128.0> : tensor<32xf32>
  %s = stablehlo.reduce(%xf init: %z) applies stablehlo.add across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
  %m = stablehlo.divide %s, %n : tensor<32xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<32xf32>) -> tensor<32x128xf32>
  %d = stablehlo.subtract %xf, %mb : tensor<32x128xf32>
  %sq = stablehlo.multiply %d, %d : tensor<32x128xf32>
  %v = stablehlo.reduce(%sq init: %z) applies stablehlo.add across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
  %vm = stablehlo.divide %v, %n : tensor<32xf32>
  %rs = stablehlo.rsqrt %vm : tensor<32xf32>
  %rb = stablehlo.broadcast_in_dim %rs, dims = [0] : (tensor<32xf32>) -> tensor<32x128xf32>
  %o = stablehlo.multiply %d, %rb : tensor<32x128xf32>
  %ob = stablehlo.convert %o : (tensor<32x128xf32>) -> tensor<32x128xbf16>
  %gb = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<128xbf16>) -> tensor<32x128xbf16>
  %r = stablehlo.multiply %ob, %gb : tensor<32x128xbf16>
  return %r : tensor<32x128xbf16>
}
