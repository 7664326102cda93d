// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-split-reductions{ops=0,1,2})' 2>&1 | FileCheck %s

// CHECK-DAG: FIS114{{.*}}linalg.reduce cannot be split: its terms are combined in a way that has no parts
// CHECK-DAG: FIS114{{.*}}linalg.transpose cannot be split: it does not reduce
// CHECK-DAG: FIS114{{.*}}linalg.reduce cannot be split: no loop of its sum has a size that is known
func.func @refused(%x: tensor<3x8192xf32>, %init: tensor<3xf32>, %t: tensor<8192x3xf32>, %y: tensor<3x?xf32>)
    -> (tensor<3xf32>, tensor<8192x3xf32>, tensor<3xf32>) {
  %a = linalg.reduce ins(%x : tensor<3x8192xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.divf %sum, %in : f32
      linalg.yield %s : f32
    }
  %b = linalg.transpose ins(%x : tensor<3x8192xf32>) outs(%t : tensor<8192x3xf32>) permutation = [1, 0]
  %c = linalg.reduce ins(%y : tensor<3x?xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.addf %in, %sum : f32
      linalg.yield %s : f32
    }
  return %a, %b, %c : tensor<3xf32>, tensor<8192x3xf32>, tensor<3xf32>
}
