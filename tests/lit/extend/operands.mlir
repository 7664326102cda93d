// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-extend-operands)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-extend-operands{ops=3})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The bf16 operand is extended before the op, behind a boundary; the f32 one stays as it is.
// CHECK-LABEL: func.func @mixed
// CHECK-SAME:      %[[A:.*]]: tensor<8x16xbf16>, %[[B:.*]]: tensor<16x4xf32>
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<8x16xbf16>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:         %[[C:.*]] = "fissile.boundary"(%[[W]])
// CHECK:         linalg.generic {{.*}} ins(%[[C]], %[[B]] : tensor<8x16xf32>, tensor<16x4xf32>)
// CHECK-NOT:       arith.extf
// CHECK:           arith.mulf %{{.*}} : f32
func.func @mixed(%a: tensor<8x16xbf16>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Nothing is extended: the op stays; chosen by index, it is refused.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     fissile.boundary
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<8x16xf32>, tensor<16x4xf32>)
// WRONG: FIS114
// WRONG-SAME: its body extends no operand
func.func @silent(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
