func.func @main(%x: tensor<4x32xf32>) -> (tensor<4x17xf32>, tensor<4x17xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [32] : (tensor<4x32xf32>) -> tensor<4x17xcomplex<f32>>
  %re = stablehlo.real %0 : (tensor<4x17xcomplex<f32>>) -> tensor<4x17xf32>
 %im = stablehlo.imag %0 : (tensor<4x17xcomplex<f32>>) -> tensor<4x17xf32>
 return %re, %im : tensor<4x17xf32>, tensor<4x17xf32>
}
