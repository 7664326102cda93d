// RUN: fissile-opt %s --split-input-file --pass-pipeline='builtin.module(fissile-fill-bytes)' | FileCheck %s

// Seven elements of i4 do not fill their fourth byte: the constant becomes one word, and the elements are computed in 32 bits.
// CHECK-LABEL: func.func @constant
// CHECK:         %[[WORD:.*]] = arith.constant dense<129708684> : tensor<1xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[WORD]] : tensor<1xi32>) outs(%{{.*}} : tensor<1x8xi32>)
// CHECK:         tensor.extract_slice %{{.*}}[0] [7] [1] : tensor<8xi32> to tensor<7xi32>
// CHECK-NOT:     tensor<7xi4>
func.func @constant() -> tensor<7xi8> {
  %zero = arith.constant dense<[-4, -8, 2, 3, -5, -5, 7]> : tensor<7xi4>
  %e = tensor.empty() : tensor<7xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%zero : tensor<7xi4>) outs(%e : tensor<7xi8>) {
  ^bb0(%in: i4, %out: i8):
    %wide = arith.extsi %in : i4 to i8
    linalg.yield %wide : i8
  } -> tensor<7xi8>
  return %r : tensor<7xi8>
}

// -----

// The argument fills its bytes and keeps them; the barrier holds 32 bits for an element.
// CHECK-LABEL: func.func @slice
// CHECK-SAME:    (%[[X:.*]]: tensor<8x16xi4>)
// CHECK:         iree_tensor_ext.bitcast %[[X]] : tensor<8x16xi4> -> tensor<8x2xi32>
// CHECK:         util.optimization_barrier %{{.*}} : tensor<3x5xi32>
// CHECK-NOT:     tensor<3x5xi4>
func.func @slice(%x: tensor<8x16xi4>) -> tensor<3x5xi8> {
  %s = tensor.extract_slice %x[1, 2] [3, 5] [1, 1] : tensor<8x16xi4> to tensor<3x5xi4>
  %kept = util.optimization_barrier %s : tensor<3x5xi4>
  %e = tensor.empty() : tensor<3x5xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%kept : tensor<3x5xi4>) outs(%e : tensor<3x5xi8>) {
  ^bb0(%in: i4, %out: i8):
    %wide = arith.extsi %in : i4 to i8
    linalg.yield %wide : i8
  } -> tensor<3x5xi8>
  return %r : tensor<3x5xi8>
}

// -----

// The twin: every tensor of the program fills its bytes.
// CHECK-LABEL: func.func @twin
// CHECK:         tensor.extract_slice %{{.*}} : tensor<8x16xi4> to tensor<3x6xi4>
// CHECK-NOT:     i32
// CHECK:         return
func.func @twin(%x: tensor<8x16xi4>) -> tensor<3x6xi8> {
  %s = tensor.extract_slice %x[1, 2] [3, 6] [1, 1] : tensor<8x16xi4> to tensor<3x6xi4>
  %e = tensor.empty() : tensor<3x6xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<3x6xi4>) outs(%e : tensor<3x6xi8>) {
  ^bb0(%in: i4, %out: i8):
    %wide = arith.extsi %in : i4 to i8
    linalg.yield %wide : i8
  } -> tensor<3x6xi8>
  return %r : tensor<3x6xi8>
}
