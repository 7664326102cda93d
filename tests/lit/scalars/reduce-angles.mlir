// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-angles)' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-angles{ops=0 halves=true})' | FileCheck %s --check-prefix=HALVES
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-angles)' | FileCheck %s --check-prefix=WORDS
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-reduce-angles{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @sine
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[WIDE]] : f32 to i32
// CHECK-COUNT-2: arith.mului_extended
// CHECK-NOT:     math.sin
// CHECK:         arith.truncf
// HALVES-LABEL: func.func @sine
// HALVES-NOT:     arith.mului_extended
// HALVES-NOT:     i64
// HALVES:         arith.truncf
func.func @sine(%y: tensor<8xf16>, %x: tensor<8xf16>) -> tensor<8xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf16>) outs(%x : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %q = math.sin %a : f16
    linalg.yield %q : f16
  } -> tensor<8xf16>
  return %r : tensor<8xf16>
}

// Eight positions, and a double: neither is large.
// WRONG: error[FIS114] linalg.generic has no sine, cosine or tangent to change
// CHECK-LABEL: func.func @small
// CHECK:         math.cos
// CHECK:         math.sin
func.func @small(%y: tensor<8xf64>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf64>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f64, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %position = arith.sitofp %k : i32 to f32
    %c = math.cos %position : f32
    %s = math.sin %a : f64
    %t = arith.truncf %s : f64 to f32
    %u = arith.addf %c, %t : f32
    linalg.yield %u : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Positions below 2^31 reach two words of 1/(2 pi), which are chosen between for each word that is read; others reach five.
// CHECK-LABEL: func.func @positions
// CHECK:         arith.mului_extended
// CHECK-NOT:     math.cos
// WORDS-LABEL: func.func @positions
// WORDS-COUNT-4: arith.select %{{.*}}, %c{{.*}}, %c{{.*}} : i32
// WORDS-NOT:     arith.select %{{.*}}, %c{{.*}}, %c{{.*}} : i32
// WORDS:         arith.mului_extended
func.func @positions(%y: tensor<8xi32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<8xi32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: i32, %o: f32):
    %position = arith.sitofp %a : i32 to f32
    %c = math.cos %position : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
