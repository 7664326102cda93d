// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-drop-annotations)' | FileCheck %s

// CHECK-LABEL: func.func @constrained
// CHECK-NOT:     custom_call
func.func @constrained(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Another call, and one that makes a part of each tensor.
// CHECK-LABEL: func.func @others
// CHECK:         custom_call @mine
// CHECK:         custom_call @Sharding
func.func @others(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %r = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.custom_call @Sharding(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %r, %s : tensor<4xf32>, tensor<2xf32>
}
