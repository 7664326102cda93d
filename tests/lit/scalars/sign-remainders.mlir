// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sign-remainders)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-sign-remainders{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @any
// CHECK:         ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32):
// CHECK:         %[[BELOW:.*]] = arith.cmpi slt, %[[B]]
// CHECK:         %[[SIZE:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[B]]
// CHECK:         %[[LOWEST:.*]] = arith.cmpi eq, %[[A]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[A]], %[[SIZE]]
// CHECK:         %[[HIGHER:.*]] = arith.select %[[LOWEST]], %[[SUM]], %[[A]]
// CHECK:         arith.remsi %[[HIGHER]], %[[B]]
func.func @any(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.remsi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// By a power of two, of what is extended, of a position and of a remainder.
// WRONG: error[FIS114] linalg.generic has no remainder to change
// CHECK-LABEL: func.func @right
// CHECK-NOT:     arith.select
// CHECK-COUNT-4: arith.remsi
func.func @right(%x: tensor<8xi32>, %y: tensor<8xi16>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %three = arith.constant 3 : i32
  %minus_four = arith.constant -4 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi32>, tensor<8xi16>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i16, %o: i32):
    %p = arith.remsi %a, %minus_four : i32
    %wide = arith.extsi %b : i16 to i32
    %q = arith.remsi %wide, %three : i32
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i32
    %s = arith.remsi %place, %three : i32
    %t = arith.remsi %p, %three : i32
    %u = arith.addi %q, %s : i32
    %v = arith.addi %t, %u : i32
    linalg.yield %v : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
