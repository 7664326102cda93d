// RUN: fissile-opt %s --fissile-store-indices 2>/dev/null | FileCheck %s

// CHECK-LABEL: @read
// CHECK: arith.constant dense<[3, -1]> : tensor<2xi64>
// CHECK: tensor.extract %{{.*}} : tensor<2xi64>
// CHECK: arith.index_cast
func.func @read(%i: index) -> index {
  %c = arith.constant dense<[3, -1]> : tensor<2xindex>
  %r = tensor.extract %c[%i] : tensor<2xindex>
  return %r : index
}

// CHECK-LABEL: @whole
// CHECK: dense<1> : tensor<2xindex>
func.func @whole() -> tensor<2xindex> {
  %c = arith.constant dense<1> : tensor<2xindex>
  return %c : tensor<2xindex>
}

// CHECK-LABEL: @integers
// CHECK-NOT: arith.index_cast
func.func @integers(%i: index) -> i32 {
  %c = arith.constant dense<[3, -1]> : tensor<2xi32>
  %r = tensor.extract %c[%i] : tensor<2xi32>
  return %r : i32
}
