// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=f8E4M3FN ops=0,2})' | FileCheck %s

// Where storage holds bytes, an 8-bit float is read as one: a reinterpretation, then an elementwise op of integers.
// CHECK-LABEL: func.func @decode
// CHECK-SAME:    (%[[X:.*]]: tensor<3x5xf8E4M3FN>)
// CHECK:         %[[B:.*]] = iree_tensor_ext.bitcast %[[X]] : tensor<3x5xf8E4M3FN> -> tensor<3x5xi8>
// CHECK:         %[[V:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<3x5xi8>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:           arith.extui %{{.*}} : i8 to i32
// CHECK:         linalg.generic {{.*}} ins(%[[V]] : tensor<3x5xf32>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK-NOT:     f8E4M3FN
func.func @decode(%x: tensor<3x5xf8E4M3FN>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf8E4M3FN>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%in: f8E4M3FN, %out: f32):
    %f = arith.extf %in : f8E4M3FN to f32
    linalg.yield %f : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// The twin is source op 1, which was not named: it stays.
// CHECK-LABEL: func.func @twin
// CHECK-NOT:     bitcast
// CHECK:         arith.extf %{{.*}} : f8E4M3FN to f32
func.func @twin(%x: tensor<3x5xf8E4M3FN>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf8E4M3FN>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%in: f8E4M3FN, %out: f32):
    %f = arith.extf %in : f8E4M3FN to f32
    linalg.yield %f : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// A result is rounded, and stored by its bits.
// CHECK-LABEL: func.func @encode
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5xi8>)
// CHECK:           arith.trunci %{{.*}} : i32 to i8
// CHECK:         %[[Y:.*]] = iree_tensor_ext.bitcast %[[B]] : tensor<3x5xi8> -> tensor<3x5xf8E4M3FN>
// CHECK:         return %[[Y]]
func.func @encode(%x: tensor<3x5xf32>) -> tensor<3x5xf8E4M3FN> {
  %e = tensor.empty() : tensor<3x5xf8E4M3FN>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf8E4M3FN>) {
  ^bb0(%in: f32, %out: f8E4M3FN):
    %f = arith.truncf %in : f32 to f8E4M3FN
    linalg.yield %f : f8E4M3FN
  } -> tensor<3x5xf8E4M3FN>
  return %r : tensor<3x5xf8E4M3FN>
}
