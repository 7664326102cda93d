func.func @main(%x: tensor<64x128xi8>, %w1: tensor<128x256xi8>, %w2: tensor<256x128xi8>, %s: tensor<256xf32>) -> tensor<64x128xf32> {
  %a = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x128xi8>, tensor<128x256xi8>) -> tensor<64x256xi32>
  %af = stablehlo.convert %a : (tensor<64x256xi32>) -> tensor<64x256xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<256xf32>) -> tensor<64x256xf32>
  %b = stablehlo.multiply %af, %sb : tensor<64x256xf32>
  %t = stablehlo.tanh %b : tensor<64x256xf32>
  %lo = stablehlo.constant dense<-127.0> : tensor<f32>
  %k = stablehlo.constant dense<127.0> : tensor<64x256xf32>
  %u = stablehlo.multiply %t, %k : tensor<64x256xf32>
  %r = stablehlo.round_nearest_even %u : tensor<64x256xf32>
  %q = stablehlo.convert %r : (tensor<64x256xf32>) -> tensor<64x256xi8>
  %c = stablehlo.dot_general %q, %w2, contracting_dims = [1] x [0] : (tensor<64x256xi8>, tensor<256x128xi8>) -> tensor<64x128xi32>
  %o = stablehlo.convert %c : (tensor<64x128xi32>) -> tensor<64x128xf32>
  return %o : tensor<64x128xf32>
}
