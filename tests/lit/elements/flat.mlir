// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=0 flat=true})' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=1 flat=true})' 2>&1 | FileCheck %s --check-prefix=WRONG

// The three loops of the result are one; the window's loops stay, with their extents from empty tensors. The order of the sum is the same.
// CHECK-LABEL: func.func @windows
// CHECK-SAME:    (%[[X:.*]]: tensor<8x9x9xf32>, %[[W:.*]]: tensor<4x8x3x3xf32>,
// CHECK:         tensor.collapse_shape %{{.*}} into tensor<196xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "reduction"]
// CHECK-SAME:      ins(%{{.*}} : tensor<8xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK:           %[[AT:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = arith.remui %[[AT]], %{{.*}}
// CHECK:           %[[REST:.*]] = arith.divui %[[AT]], %{{.*}}
// CHECK:           %[[ROW:.*]] = arith.remui %[[REST]], %{{.*}}
// CHECK:           %[[CHANNEL:.*]] = arith.divui %[[REST]], %{{.*}}
// CHECK:           %[[SUM:.*]] = linalg.index 1
// CHECK:           tensor.extract %[[X]][%[[SUM]]
// CHECK:           tensor.extract %[[W]][%[[CHANNEL]], %[[SUM]]
// CHECK:         tensor.expand_shape %{{.*}} into tensor<4x7x7xf32>
func.func @windows(%x: tensor<8x9x9xf32>, %w: tensor<4x8x3x3xf32>, %init: tensor<4x7x7xf32>) -> tensor<4x7x7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(f, h, w, c, i, j) -> (c, h + i, w + j)>, affine_map<(f, h, w, c, i, j) -> (f, c, i, j)>,
                                        affine_map<(f, h, w, c, i, j) -> (f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<8x9x9xf32>, tensor<4x8x3x3xf32>) outs(%init : tensor<4x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x7x7xf32>
  return %r : tensor<4x7x7xf32>
}

// WRONG: FIS123
// WRONG-SAME: its loops are of dynamic size
// CHECK-LABEL: func.func @silent
// CHECK-NEXT:    linalg.matmul
// CHECK-NEXT:    return
func.func @silent(%a: tensor<?x4xf32>, %b: tensor<4x5xf32>, %init: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x5xf32>) outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
