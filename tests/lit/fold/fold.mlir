// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-producers,canonicalize)' | FileCheck %s

// The dequantisation happens inside the convolution, through a transposed map; nothing is materialised.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d3 + d6, d2 + d5)>
// CHECK-LABEL: func.func @transposed_dequantise
// CHECK-SAME:    (%[[X0:.*]]: tensor<1x4x8x10xi8>, %[[W:.*]]: tensor<2x4x3x3xf32>
// CHECK-COUNT-1: linalg.generic {indexing_maps = [#[[X]],
// CHECK-SAME:    ins(%[[X0]], %[[W]] : tensor<1x4x8x10xi8>, tensor<2x4x3x3xf32>)
// CHECK:           arith.sitofp
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
func.func @transposed_dequantise(%x: tensor<1x4x8x10xi8>, %w: tensor<2x4x3x3xf32>, %acc: tensor<1x2x8x6xf32>) -> tensor<1x2x8x6xf32> {
  %e = tensor.empty() : tensor<1x4x10x8xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, d, c)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4x8x10xi8>) outs(%e : tensor<1x4x10x8xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    linalg.yield %f : f32
  } -> tensor<1x4x10x8xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x4x10x8xf32>, tensor<2x4x3x3xf32>)
      outs(%acc : tensor<1x2x8x6xf32>) -> tensor<1x2x8x6xf32>
  return %r : tensor<1x2x8x6xf32>
}

// Two results, two users, a scale by channel, the loop's index: each user computes what it needs.
// CHECK-LABEL: func.func @two_results
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @two_results(%x: tensor<8x6xi8>, %s: tensor<6xf32>, %acc: tensor<8xf32>, %acc2: tensor<6xf32>) -> (tensor<8xf32>, tensor<6xf32>) {
  %e0 = tensor.empty() : tensor<8x6xf32>
  %e1 = tensor.empty() : tensor<6x8xf32>
  %p:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>,
                                          affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b, a)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x6xi8>, tensor<6xf32>) outs(%e0, %e1 : tensor<8x6xf32>, tensor<6x8xf32>) {
  ^bb0(%i: i8, %k: f32, %o: f32, %o2: f32):
    %c = arith.sitofp %i : i8 to f32
    %m = arith.mulf %c, %k : f32
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i32
    %jf = arith.sitofp %ji : i32 to f32
    %n = arith.addf %m, %jf : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<8x6xf32>, tensor<6x8xf32>)
  %r0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
                        iterator_types = ["parallel", "reduction"]}
      ins(%p#0 : tensor<8x6xf32>) outs(%acc : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %i, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %r1 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
                        iterator_types = ["parallel", "reduction"]}
      ins(%p#1 : tensor<6x8xf32>) outs(%acc2 : tensor<6xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %i, %o : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  return %r0, %r1 : tensor<8xf32>, tensor<6xf32>
}

// An op that widens nothing is not chosen.
// CHECK-LABEL: func.func @silent
// CHECK-COUNT-2: linalg.generic
func.func @silent(%x: tensor<8x6xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.mulf %i, %i : f32
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
