// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-shifts)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-guard-shifts{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @shift
// CHECK:         %[[SHIFTED:.*]] = arith.shrui %[[X:.*]], %[[N:.*]] : i64
// CHECK:         %[[NONE:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : i64
// CHECK:         %[[RESULT:.*]] = arith.select %[[NONE]], %[[X]], %[[SHIFTED]] : i64
// CHECK:         linalg.yield %[[RESULT]]
func.func @shift(%x: tensor<8xi64>, %n: tensor<8xi64>) -> tensor<8xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%n : tensor<8xi64>) {
  ^bb0(%a: i64, %o: i64):
    %q = arith.shrui %a, %o : i64
    linalg.yield %q : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// By a constant, with a sign, and of 32 bits.
// WRONG: error[FIS114] linalg.generic has no shift to change
// CHECK-LABEL: func.func @right
// CHECK-NOT:     arith.select
func.func @right(%x: tensor<8xi64>, %n: tensor<8xi64>) -> tensor<8xi64> {
  %c3 = arith.constant 3 : i64
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%n : tensor<8xi64>) {
  ^bb0(%a: i64, %o: i64):
    %q = arith.shli %a, %c3 : i64
    %s = arith.shrsi %q, %o : i64
    %t = arith.trunci %s : i64 to i32
    %u = arith.trunci %o : i64 to i32
    %v = arith.shli %t, %u : i32
    %w = arith.extsi %v : i32 to i64
    linalg.yield %w : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}
