// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-join-booleans)' | FileCheck %s

// CHECK-LABEL: func.func @any
// CHECK:         stablehlo.or
// CHECK-NOT:     stablehlo.add
func.func @any(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %r = stablehlo.add %x, %y : tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @integers
// CHECK:         stablehlo.add
// CHECK-NOT:     stablehlo.or
func.func @integers(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %r = stablehlo.add %x, %y : tensor<4xi8>
  return %r : tensor<4xi8>
}
