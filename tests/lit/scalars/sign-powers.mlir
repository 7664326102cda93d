// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sign-powers)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-sign-powers{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @power
// CHECK:         %[[SIZE:.*]] = math.absf %[[BASE:in.*]] : f32
// CHECK:         %[[POWER:.*]] = math.powf %[[SIZE]]
// CHECK:         math.copysign %{{.*}}, %[[BASE]]
func.func @power(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.powf %a, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A square is never negative.
// CHECK-LABEL: func.func @square
// CHECK-NOT:     math.absf
// CHECK:         math.powf
func.func @square(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    %q = math.powf %s, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// WRONG: FIS114
