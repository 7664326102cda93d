// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=i16})' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=i88})' 2>&1 | FileCheck %s --check-prefix=WRONG

// A module whose targets hold all types, or that names none, and a type that does not occur: nothing changes.
// CHECK-LABEL: func.func @sum
// CHECK-NOT:     bitcast
// CHECK:         arith.addi %{{.*}}, %{{.*}} : i8
// WRONG: 'i88' is not a type that can be packed
// WRONG-NEXT: did you mean 'i8'
func.func @sum(%x: tensor<16xi8>) -> tensor<16xi8> {
  %e = tensor.empty() : tensor<16xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<16xi8>) outs(%e : tensor<16xi8>) {
  ^bb0(%a: i8, %out: i8):
    %s = arith.addi %a, %a : i8
    linalg.yield %s : i8
  } -> tensor<16xi8>
  return %r : tensor<16xi8>
}
