// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-generalise-booleans)' | FileCheck %s

// CHECK-LABEL: func.func @reached
// CHECK-NOT:     linalg.matmul
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         arith.andi
// CHECK:         arith.ori
func.func @reached(%a: tensor<4x8xi1>, %b: tensor<8x4xi1>, %c: tensor<4x4xi1>) -> tensor<4x4xi1> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi1>, tensor<8x4xi1>) outs(%c : tensor<4x4xi1>) -> tensor<4x4xi1>
  return %r : tensor<4x4xi1>
}

// Bytes are multiplied and added; a product with its own body keeps that.
// CHECK-LABEL: func.func @bytes
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:         arith.addi
func.func @bytes(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi8>, %t: tensor<4x4xi1>, %u: tensor<4xi1>) -> (tensor<4x4xi8>, tensor<4xi1>) {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%c : tensor<4x4xi8>) -> tensor<4x4xi8>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<4x4xi1>) outs(%u : tensor<4xi1>) {
  ^bb0(%x: i1, %o: i1):
    %v = arith.addi %x, %o : i1
    linalg.yield %v : i1
  } -> tensor<4xi1>
  return %r, %s : tensor<4x4xi8>, tensor<4xi1>
}
