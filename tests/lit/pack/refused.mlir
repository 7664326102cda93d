// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=i8})' 2>&1 | FileCheck %s

// CHECK: FIS114
// CHECK-SAME: arith.addui_extended in linalg.generic
func.func @carry(%x: tensor<16xi8>) -> tensor<16xi8> {
  %e = tensor.empty() : tensor<16xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<16xi8>) outs(%e : tensor<16xi8>) {
  ^bb0(%a: i8, %out: i8):
    %s, %c = arith.addui_extended %a, %a : i8, i1
    linalg.yield %s : i8
  } -> tensor<16xi8>
  return %r : tensor<16xi8>
}
