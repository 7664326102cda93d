// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=f16})' 2>&1 | FileCheck %s

// CHECK: FIS114
// CHECK-SAME: arith.truncf in linalg.generic
func.func @upward(%x: tensor<16xf32>) -> tensor<16xf16> {
  %e = tensor.empty() : tensor<16xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf16>) {
  ^bb0(%a: f32, %out: f16):
    %s = arith.truncf %a upward : f32 to f16
    linalg.yield %s : f16
  } -> tensor<16xf16>
  return %r : tensor<16xf16>
}
