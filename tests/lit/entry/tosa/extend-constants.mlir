// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-extend-constants)' | FileCheck %s

// CHECK-LABEL: func.func @negative
// CHECK:         %[[C:.*]] = arith.constant dense<[5, -7]> : tensor<2xi32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<2xi32>)
// CHECK:           arith.extsi {{.*}} : i32 to i48
// CHECK:         return %[[R]]
func.func @negative() -> tensor<2xi48> {
  %c = "tosa.const"() <{values = dense<[5, -7]> : tensor<2xi48>}> : () -> tensor<2xi48>
  return %c : tensor<2xi48>
}

// -40000000001 = -610352 * 65536 + 28671
// CHECK-LABEL: func.func @wide
// CHECK:         arith.constant dense<[0, -610352]> : tensor<2xi32>
// CHECK:         arith.constant dense<[1, 28671]> : tensor<2xi32>
// CHECK:         arith.shli
// CHECK:         arith.addi
func.func @wide() -> tensor<2xi48> {
  %c = "tosa.const"() <{values = dense<[1, -40000000001]> : tensor<2xi48>}> : () -> tensor<2xi48>
  return %c : tensor<2xi48>
}

// CHECK-LABEL: func.func @of_arith
// CHECK:         arith.constant dense<-7> : tensor<2xi32>
// CHECK:         arith.extsi
func.func @of_arith() -> tensor<2xi48> {
  %c = arith.constant dense<-7> : tensor<2xi48>
  return %c : tensor<2xi48>
}

// CHECK-LABEL: func.func @silent
// CHECK-NOT:     linalg
// CHECK:         return
func.func @silent() -> (tensor<2xi48>, tensor<2xi32>) {
  %c = "tosa.const"() <{values = dense<[5, 281474976710]> : tensor<2xi48>}> : () -> tensor<2xi48>
  %d = "tosa.const"() <{values = dense<[5, -7]> : tensor<2xi32>}> : () -> tensor<2xi32>
  return %c, %d : tensor<2xi48>, tensor<2xi32>
}
