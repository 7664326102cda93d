func.func @main(%x: tensor<?x?xi8>) -> tensor<?xf32> {
  %0 = stablehlo.convert %x : (tensor<?x?xi8>) -> tensor<?x?xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
