// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-bound-indices)' 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err

// A scatter gets a mask of its indices, as unsigned numbers, and indices that lie inside.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME:    (%[[X:.*]]: tensor<8x5xf32>, %[[AT:.*]]: tensor<3x2xi32>, %[[NEW:.*]]: tensor<3xf32>)
// CHECK:         %[[MASK:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[AT]]
// CHECK:           arith.cmpi ule
// CHECK:         %[[INSIDE:.*]] = linalg.generic {{.*}} ins(%[[AT]]
// CHECK:           arith.minui
// CHECK:         iree_linalg_ext.scatter {{.*}} ins(%[[NEW]], %[[INSIDE]], %[[MASK]] : tensor<3xf32>, tensor<3x2xi32>, tensor<3xi1>) outs(%[[X]]
// REPORT: warning[FIS209] @scatter: IREE may write an update outside of a scatter's operand, which the program leaves out
func.func @scatter(%x: tensor<8x5xf32>, %at: tensor<3x2xi32>, %new: tensor<3xf32>) -> tensor<8x5xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(false)
      ins(%new, %at : tensor<3xf32>, tensor<3x2xi32>) outs(%x : tensor<8x5xf32>) {
  ^bb0(%update: f32, %old: f32):
    iree_linalg_ext.yield %update : f32
  } -> tensor<8x5xf32>
  return %r : tensor<8x5xf32>
}

// An index that is loaded in a dispatch is clamped there.
// CHECK-LABEL: func.func @gather
// CHECK:         %[[I:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:         %[[LOW:.*]] = arith.maxsi %[[I]], %c0
// CHECK:         %[[IN:.*]] = arith.minui %[[LOW]], %c8
// CHECK:         tensor.extract %{{.*}}[%[[IN]]]
// REPORT: warning[FIS209] @gather: IREE may read outside of a gather's operand, where the program reads the nearest element
func.func @gather(%x: tensor<9xf32>, %at: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%at : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i32, %out: f32):
    %i = arith.index_cast %in : i32 to index
    %v = tensor.extract %x[%i] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// The twin: an index that is proved to lie inside.
// CHECK-LABEL: func.func @inside
// CHECK-NOT:     arith.minui
// CHECK-NOT:     tensor<3xi1>
// CHECK:         return
// REPORT-NOT: @inside
func.func @inside(%x: tensor<9xf32>, %new: tensor<3xf32>) -> tensor<9xf32> {
  %at = arith.constant dense<[[1], [8], [0]]> : tensor<3x1xi32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%new, %at : tensor<3xf32>, tensor<3x1xi32>) outs(%x : tensor<9xf32>) {
  ^bb0(%update: f32, %old: f32):
    iree_linalg_ext.yield %update : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
