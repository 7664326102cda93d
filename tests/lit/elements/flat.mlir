// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=0 flat=true})' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=2 flat=true})' 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=1 flat=true})' | FileCheck %s --check-prefix=DYNAMIC

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

// Dynamic sizes are operands' own.
// DYNAMIC-LABEL: func.func @dynamic
// DYNAMIC-SAME:    (%[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<4x?xf32>, %[[INIT:.*]]: tensor<?x?xf32>)
// DYNAMIC:         %[[COLUMNS:.*]] = tensor.dim %[[B]], %c1
// DYNAMIC:         tensor.collapse_shape %[[INIT]] {{.*}} into tensor<?xf32>
// DYNAMIC:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// DYNAMIC:           arith.remui %{{.*}}, %[[COLUMNS]]
// DYNAMIC:         tensor.expand_shape %{{.*}} : tensor<?xf32> into tensor<?x?xf32>
// CHECK-LABEL: func.func @dynamic
// CHECK:         linalg.matmul
// CHECK-NEXT:    return
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// WRONG: FIS114
// WRONG-SAME: its results are indexed in different orders
func.func @two_orders(%x: tensor<4x5xf32>, %rows: tensor<4x5xf32>, %columns: tensor<5x4xf32>) -> (tensor<4x5xf32>, tensor<5x4xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x5xf32>) outs(%rows, %columns : tensor<4x5xf32>, tensor<5x4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    linalg.yield %a, %a : f32, f32
  } -> (tensor<4x5xf32>, tensor<5x4xf32>)
  return %r#0, %r#1 : tensor<4x5xf32>, tensor<5x4xf32>
}
