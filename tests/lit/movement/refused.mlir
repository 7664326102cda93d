// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-movement{ops=0})' 2>&1 | FileCheck %s

// CHECK: error[FIS114] linalg.generic cannot be written as reads by index: it does more than move elements
func.func @computes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %i : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
