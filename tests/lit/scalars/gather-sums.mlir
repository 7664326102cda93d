// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-gather-sums)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-gather-sums{ops=2})' 2>&1 | FileCheck %s --check-prefix=WRONG

// A loaded offset, and the index of the loop.
// CHECK-LABEL: func.func @loaded
// CHECK:         %[[I:.*]] = linalg.index 0
// CHECK:         %[[START:.*]] = arith.index_cast
// CHECK:         %[[NEGATIVE:.*]] = arith.subi %{{.*}}, %[[I]] : index
// CHECK:         %[[AT:.*]] = arith.subi %[[START]], %[[NEGATIVE]] : index
// CHECK:         tensor.extract %{{.*}}[%[[AT]]]
func.func @loaded(%x: tensor<64xf32>, %k: tensor<8xi64>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%k : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%offset: i64, %o: f32):
    %i = linalg.index 0 : index
    %start = arith.index_cast %offset : i64 to index
    %at = arith.addi %start, %i : index
    %v = tensor.extract %x[%at] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// The index twice, and a constant.
// CHECK-LABEL: func.func @twice
// CHECK:         %[[BOTH:.*]] = arith.addi %[[I:.*]], %[[I]] : index
// CHECK:         %[[NEGATIVE:.*]] = arith.subi %{{.*}}, %[[ONE:.*]] : index
// CHECK:         %[[AT:.*]] = arith.subi %[[BOTH]], %[[NEGATIVE]] : index
// CHECK:         tensor.extract %{{.*}}[%[[AT]]]
func.func @twice(%x: tensor<64xf32>) -> tensor<8xf32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %both = arith.addi %i, %i : index
    %at = arith.addi %both, %one : index
    %v = tensor.extract %x[%at] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Consecutive along the loop: the offset is one for each row. A row that differs. No sum.
// WRONG: error[FIS114] linalg.generic has no gather to change
// CHECK-LABEL: func.func @right
// CHECK-NOT:     arith.subi
// CHECK:         return
func.func @right(%x: tensor<64xf32>, %t: tensor<64x64xf32>, %k: tensor<8xi64>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<8xi64>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%offset: i64, %o: f32):
    %j = linalg.index 1 : index
    %start = arith.index_cast %offset : i64 to index
    %at = arith.addi %start, %j : index
    %v = tensor.extract %x[%at] : tensor<64xf32>
    %i = linalg.index 0 : index
    %row = arith.addi %start, %i : index
    %w = tensor.extract %t[%row, %j] : tensor<64x64xf32>
    %u = tensor.extract %x[%start] : tensor<64xf32>
    %s = arith.addf %v, %w : f32
    %p = arith.addf %s, %u : f32
    linalg.yield %p : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
