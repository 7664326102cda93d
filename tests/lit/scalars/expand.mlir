// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-scalars{ops=0})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-scalars)' | FileCheck %s --check-prefix=ALL
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-scalars{ops=3})' 2>&1 | FileCheck %s --check-prefix=WRONG

// 64 bits are divided by 32-bit halves; the chosen op alone is touched.
// CHECK-LABEL: func.func @wide
// CHECK:         linalg.generic
// CHECK-NOT:     arith.divui {{.*}} : i64
// CHECK:         arith.divui {{.*}} : i32
// CHECK-NOT:     arith.divsi
// CHECK:         linalg.yield %{{.*}} : i64
// ALL-LABEL:   func.func @wide
// ALL-NOT:       arith.divsi
// ALL:           linalg.yield
func.func @wide(%x: tensor<8xi64>, %init: tensor<8xi64>) -> tensor<8xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%init : tensor<8xi64>) {
  ^bb0(%a: i64, %o: i64):
    %q = arith.divsi %a, %o : i64
    linalg.yield %q : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// CHECK-LABEL: func.func @power
// CHECK:         math.ipowi
// ALL-LABEL:   func.func @power
// ALL-NOT:       math.ipowi
// ALL:           linalg.yield
func.func @power(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%init : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %q = math.ipowi %a, %o : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// Ops of the index dialect are arith's.
// CHECK-LABEL: func.func @indices
// CHECK:         index.remu
// ALL-LABEL:   func.func @indices
// ALL-NOT:       index.
// ALL:           arith.remui %{{.*}} : index
// ALL:           arith.cmpi slt, %{{.*}} : index
// ALL:           linalg.yield
func.func @indices(%init: tensor<8xi1>) -> tensor<8xi1> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%init : tensor<8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %c = index.constant 3
    %q = index.remu %i, %c
    %s = index.cmp slt(%q, %c)
    linalg.yield %s : i1
  } -> tensor<8xi1>
  return %r : tensor<8xi1>
}

// WRONG: FIS114
// WRONG-SAME: every target computes what its body has
// ALL-LABEL:   func.func @silent
// ALL:           %[[Q:.*]] = arith.divsi
// ALL-NEXT:      linalg.yield %[[Q]] : i32
func.func @silent(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%init : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %q = arith.divsi %a, %o : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// A number that is computed outside, of sizes of the call, is taken into the dispatch.
// ALL-LABEL: func.func @captured
// ALL-NOT:     arith.divui %{{.*}} : i64
// ALL:         linalg.generic
func.func @captured(%x: tensor<8xf32>, %count: i64, %groups: i64) -> tensor<8xf32> {
  %each = arith.divui %count, %groups : i64
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %f = arith.sitofp %each : i64 to f32
    %q = arith.divf %in, %f : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// An 8-bit float that is stored as a byte.
// ALL-LABEL: @byte
// ALL-NOT: arith.extf
// ALL: arith.mulf
#byte = affine_map<(i) -> (i)>
func.func @byte(%x: tensor<4xi8>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#byte, #byte], iterator_types = ["parallel"]} ins(%x : tensor<4xi8>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: i8, %b: f32):
    %f = arith.bitcast %a : i8 to f8E4M3FN
    %w = arith.extf %f : f8E4M3FN to f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// An element that the body reads of a constant of i64; of one that 32 bits do not hold, it stays.
// ALL-LABEL: @table
// ALL:         %[[NARROW:.*]] = arith.constant dense<[1, 3, -2]> : tensor<3xi32>
// ALL:         %[[READ:.*]] = tensor.extract %[[NARROW]][%{{.*}}] : tensor<3xi32>
// ALL:         arith.extsi %[[READ]] : i32 to i64
// ALL:         tensor.extract %{{.*}}[%{{.*}}] : tensor<3xi64>
func.func @table(%x: tensor<3xi64>) -> tensor<3xi64> {
  %numbers = arith.constant dense<[1, 3, -2]> : tensor<3xi64>
  %large = arith.constant dense<[1, 3, 4294967296]> : tensor<3xi64>
  %r = linalg.generic {indexing_maps = [#byte], iterator_types = ["parallel"]} outs(%x : tensor<3xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %a = tensor.extract %numbers[%i] : tensor<3xi64>
    %b = tensor.extract %large[%i] : tensor<3xi64>
    %s = arith.addi %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<3xi64>
  return %r : tensor<3xi64>
}
