// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=i4 in-place=true})' | FileCheck %s

// Elements below a byte keep their buffer: each is extended and masked in 32 bits, and truncated where it is stored. No element is
// extended to i8 at once.

#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @main
// CHECK-NOT: iree_tensor_ext.bitcast
// CHECK: ins({{.*}} : tensor<3xi4>) outs({{.*}} : tensor<3xi32>)
// CHECK: arith.extui {{.*}} : i4 to i32
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: ins({{.*}} : tensor<3xi32>{{.*}}) outs({{.*}} : tensor<3xi8>)
// CHECK-NOT: : i4 to i8
// CHECK: arith.trunci {{.*}} : i32 to i8
// CHECK: arith.trunci {{.*}} : i32 to i4
func.func @main(%a: tensor<3xi4>) -> (tensor<3xi8>, tensor<3xi4>) {
  %e = tensor.empty() : tensor<3xi8>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<3xi4>) outs(%e : tensor<3xi8>) {
  ^bb0(%v: i4, %o: i8):
    %y = arith.extui %v : i4 to i8
    linalg.yield %y : i8
  } -> tensor<3xi8>
  %f = tensor.empty() : tensor<3xi4>
  %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<3xi4>) outs(%f : tensor<3xi4>) {
  ^bb0(%v: i4, %o: i4):
    %y = arith.addi %v, %v : i4
    linalg.yield %y : i4
  } -> tensor<3xi4>
  return %r, %s : tensor<3xi8>, tensor<3xi4>
}
