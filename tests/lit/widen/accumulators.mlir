// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-accumulators,canonicalize)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-accumulators{ops=3})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The inputs stay f16, the sum is f32, one rounding follows.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG:     %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[Z]] : f32) outs(%{{.*}} : tensor<8x4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x16xf16>, tensor<16x4xf16>) outs(%[[F]] : tensor<8x4xf32>)
// CHECK:           arith.extf
// CHECK:           arith.extf
// CHECK:           arith.mulf %{{.*}} : f32
// CHECK:           arith.addf %{{.*}} : f32
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<8x4xf16>)
// CHECK:           arith.truncf
func.func @matmul(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>) -> tensor<8x4xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8x4xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<8x4xf16>) -> tensor<8x4xf16>
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x4xf16>) outs(%f : tensor<8x4xf16>) -> tensor<8x4xf16>
  return %r : tensor<8x4xf16>
}

// f32 sums stay as they are; chosen by index, such an op is refused.
// CHECK-LABEL: func.func @silent
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<8x16xf16>, tensor<16x4xf16>) outs(%{{.*}} : tensor<8x4xf32>)
// WRONG: FIS114
// WRONG-SAME: it does not accumulate in f16 or bf16
func.func @silent(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x4xf16>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
