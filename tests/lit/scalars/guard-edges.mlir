// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-edges)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-edges{spirv=false})' | FileCheck %s --check-prefix=OTHERS
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-edges{ops=2})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @root
// CHECK:         %[[SIZE:.*]] = math.absf
// CHECK:         %[[FINITE:.*]] = arith.cmpf one, %[[SIZE]]
// CHECK:         %[[SAFE:.*]] = arith.select %[[FINITE]]
// CHECK:         %[[ROOT:.*]] = math.cbrt %[[SAFE]]
// CHECK:         arith.select %[[FINITE]], %[[ROOT]]
// OTHERS-LABEL: func.func @root
// OTHERS:         arith.select
// OTHERS:         math.cbrt
func.func @root(%y: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.cbrt %a : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @logarithm
// CHECK-NOT:     math.log1p
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.divf
// CHECK:         math.log
// CHECK:         arith.truncf
// OTHERS-LABEL: func.func @logarithm
// OTHERS:         math.log1p
func.func @logarithm(%y: tensor<8xf16>, %x: tensor<8xf16>) -> tensor<8xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf16>) outs(%x : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %q = math.log1p %a : f16
    linalg.yield %q : f16
  } -> tensor<8xf16>
  return %r : tensor<8xf16>
}

// One that is guarded already, and one of f64.
// WRONG: error[FIS114] linalg.generic has no function to change
// CHECK-LABEL: func.func @guarded
// CHECK-COUNT-2: arith.select
// CHECK-NOT:     arith.select
// CHECK:         math.acos %{{.*}} : f64
func.func @guarded(%y: tensor<8xf32>, %x: tensor<8xf64>) -> tensor<8xf64> {
  %inf = arith.constant 0x7F800000 : f32
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%x : tensor<8xf64>) {
  ^bb0(%a: f32, %o: f64):
    %finite = arith.cmpf one, %a, %inf : f32
    %safe = arith.select %finite, %a, %one : f32
    %q = math.cbrt %safe : f32
    %s = arith.select %finite, %q, %a : f32
    %wide = arith.extf %s : f32 to f64
    %t = math.acos %wide : f64
    linalg.yield %t : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}
