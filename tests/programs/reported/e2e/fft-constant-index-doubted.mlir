func.func @f(%x: tensor<8xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.fft"(%x) {fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type RFFT>} : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
