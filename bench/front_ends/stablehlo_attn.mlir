func.func @main(%q: tensor<2x4x64x32xf16>, %k: tensor<2x4x64x32xi8>, %v: tensor<2x4x64x32xi8>, %m: tensor<64x64xi1>) -> tensor<2x4x64x32xf16> {
  %kf = stablehlo.convert %k : (tensor<2x4x64x32xi8>) -> tensor<2x4x64x32xf16>
  %vf = stablehlo.convert %v : (tensor<2x4x64x32xi8>) -> tensor<2x4x64x32xf16>
  %f = stablehlo.constant dense<0.001> : tensor<2x4x64x32xf16>
  %qs = stablehlo.multiply %q, %f : tensor<2x4x64x32xf16>
  %s = stablehlo.dot_general %qs, %kf, batching_dims = [0,1] x [0,1], contracting_dims = [3] x [3] : (tensor<2x4x64x32xf16>, tensor<2x4x64x32xf16>) -> tensor<2x4x64x64xf16>
  %mb = stablehlo.broadcast_in_dim %m, dims = [2,3] : (tensor<64x64xi1>) -> tensor<2x4x64x64xi1>
  %ni = stablehlo.constant dense<0xFC00> : tensor<f16>
  %nb = stablehlo.broadcast_in_dim %ni, dims = [] : (tensor<f16>) -> tensor<2x4x64x64xf16>
  %sm = stablehlo.select %mb, %s, %nb : tensor<2x4x64x64xi1>, tensor<2x4x64x64xf16>
  %mx = stablehlo.reduce(%sm init: %ni) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x64x64xf16>, tensor<f16>) -> tensor<2x4x64xf16>
  %mxb = stablehlo.broadcast_in_dim %mx, dims = [0,1,2] : (tensor<2x4x64xf16>) -> tensor<2x4x64x64xf16>
  %d = stablehlo.subtract %sm, %mxb : tensor<2x4x64x64xf16>
  %e = stablehlo.exponential %d : tensor<2x4x64x64xf16>
  %z = stablehlo.constant dense<0.0> : tensor<f16>
  %su = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x4x64x64xf16>, tensor<f16>) -> tensor<2x4x64xf16>
  %sub = stablehlo.broadcast_in_dim %su, dims = [0,1,2] : (tensor<2x4x64xf16>) -> tensor<2x4x64x64xf16>
  %p = stablehlo.divide %e, %sub : tensor<2x4x64x64xf16>
  %r = stablehlo.dot_general %p, %vf, batching_dims = [0,1] x [0,1], contracting_dims = [3] x [2] : (tensor<2x4x64x64xf16>, tensor<2x4x64x32xf16>) -> tensor<2x4x64x32xf16>
  return %r : tensor<2x4x64x32xf16>
}
