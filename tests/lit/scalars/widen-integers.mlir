// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-integers)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-integers{ops=2})' 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-LABEL: func.func @larger
// CHECK:         %[[UP:.*]] = arith.shli %{{.*}}, %{{.*}} : i32
// CHECK:         %[[SIGNED:.*]] = arith.shrsi %[[UP]], %{{.*}} : i32
// CHECK:         arith.maxsi %[[SIGNED]], %{{.*}} : i32
// CHECK-NOT:     i8
// CHECK:         linalg.yield
func.func @larger(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %zero = arith.constant 0 : i8
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.trunci %a : i32 to i8
    %m = arith.maxsi %s, %zero : i8
    %w = arith.extsi %m : i8 to i32
    linalg.yield %w : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// Elements of narrow tensors, and a sum that is shifted without a sign.
// CHECK-LABEL: func.func @elements
// CHECK:         %[[A:.*]] = arith.extsi %{{.*}} : i16 to i32
// CHECK:         arith.shrui %{{.*}} : i32
// CHECK:         %[[NARROW:.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK:         linalg.yield %[[NARROW]] : i16
func.func @elements(%x: tensor<8xi16>) -> tensor<8xi16> {
  %e = tensor.empty() : tensor<8xi16>
  %one = arith.constant 1 : i16
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi16>) outs(%e : tensor<8xi16>) {
  ^bb0(%a: i16, %o: i16):
    %s = arith.addi %a, %one : i16
    %h = arith.shrui %s, %one : i16
    linalg.yield %h : i16
  } -> tensor<8xi16>
  return %r : tensor<8xi16>
}

// What only adds, and an unsigned maximum of what is truncated.
// WRONG: error[FIS114] linalg.generic has no narrow integers to widen
// CHECK-LABEL: func.func @right
// CHECK:         arith.addi %{{.*}} : i8
// CHECK:         arith.maxui %{{.*}} : i8
func.func @right(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %one = arith.constant 1 : i8
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.trunci %a : i32 to i8
    %t = arith.addi %s, %one : i8
    %m = arith.maxui %s, %one : i8
    %v = arith.extsi %t : i8 to i32
    %w = arith.extui %m : i8 to i32
    %u = arith.addi %v, %w : i32
    linalg.yield %u : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
