// RUN: fissile-opt %s --fissile-convert-mixed-inputs --split-input-file 2>/dev/null | FileCheck %s

// CHECK-LABEL: @mixed
// CHECK: math.absf
// CHECK: math.exp
// CHECK-NOT: {{stablehlo|tosa}}.
// CHECK: return
func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// One front end: IREE converts it.
// CHECK-LABEL: @one
// CHECK: stablehlo.abs
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
