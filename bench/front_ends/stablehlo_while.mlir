func.func @main(%x: tensor<32x64xi8>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %xf = stablehlo.convert %x : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %r:2 = stablehlo.while(%i = %i0, %a = %xf) : tensor<i32>, tensor<32x64xf32>
    cond { %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1> }
    do { %k = stablehlo.add %i, %one : tensor<i32>
      %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
      stablehlo.return %k, %b : tensor<i32>, tensor<32x64xf32> }
  return %r#1 : tensor<32x64xf32>
}
