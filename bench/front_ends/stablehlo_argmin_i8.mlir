func.func @main(%x: tensor<16x64xi8>) -> (tensor<16xi8>, tensor<16xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<16x64xi32>
  %z = stablehlo.constant dense<127> : tensor<i8>
  %zi = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %z), (%i init: %zi) across dimensions = [1] : (tensor<16x64xi8>, tensor<16x64xi32>, tensor<i8>, tensor<i32>) -> (tensor<16xi8>, tensor<16xi32>)
   reducer(%a: tensor<i8>, %c: tensor<i8>) (%b: tensor<i32>, %d: tensor<i32>) {
    %p = stablehlo.compare LE, %a, %c : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %u = stablehlo.select %p, %a, %c : tensor<i1>, tensor<i8>
    %v = stablehlo.select %p, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %u, %v : tensor<i8>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<16xi8>, tensor<16xi32>
}
