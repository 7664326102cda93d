// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-producers{ops=0})' 2>&1 | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-producers{ops=7})' 2>&1 | FileCheck %s --check-prefix=NONE

// The sum runs over a loop whose extent only the broadcast result tells: without it nothing says how often.
// CHECK: FIS114
// CHECK-SAME: a loop's extent could no longer be read off an operand
// NONE: there is no source op 7
func.func @extent(%x: tensor<8xi8>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8xi8>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%i: i8, %o: f32):
    %t = arith.sitofp %i : i8 to f32
    linalg.yield %t : f32
  } -> tensor<8x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x6xf32>) outs(%acc : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %i, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
