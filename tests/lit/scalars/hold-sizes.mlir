// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-sizes)' | FileCheck %s

// A quotient of 64 bits that a slice depends on is computed on the host.
// CHECK-LABEL: util.func public @slice
// CHECK:         %[[QUOTIENT:.*]] = arith.divui
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[QUOTIENT]] : i64
// CHECK:         arith.minui %[[HELD]],
util.func public @slice(%x: tensor<?x4xf32>, %n: i64) -> tensor<?x4xf32> {
  %three = arith.constant 3 : i64
  %q = arith.divui %n, %three : i64
  %k = arith.minui %q, %n : i64
  %m = arith.index_cast %k : i64 to index
  %t = tensor.extract_slice %x[%m, 0] [%m, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  util.return %t : tensor<?x4xf32>
}

// What becomes of f64, where it leaves f64.
// CHECK-LABEL: util.func public @scale
// CHECK:         %[[SIZE:.*]] = arith.fptosi %{{.*}} : f64 to i64
// CHECK:         util.optimization_barrier %[[SIZE]] : i64
util.func public @scale(%n: i64, %v: f32) -> tensor<?xf32> {
  %two = arith.constant 2.0 : f64
  %f = arith.sitofp %n : i64 to f64
  %g = arith.mulf %f, %two : f64
  %s = arith.fptosi %g : f64 to i64
  %m = arith.index_cast %s : i64 to index
  %e = tensor.empty(%m) : tensor<?xf32>
  %t = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  util.return %t : tensor<?xf32>
}

// A quotient of 32 bits, one of an index, one that no tensor depends on, and a sum of 64 bits.
// CHECK-LABEL: util.func public @others
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.return
util.func public @others(%x: tensor<?xf32>, %i: i32, %n: index, %l: i64) -> (tensor<?xf32>, i64) {
  %three = arith.constant 3 : i32
  %q = arith.divui %i, %three : i32
  %m = arith.index_cast %q : i32 to index
  %c3 = arith.constant 3 : index
  %o = arith.divui %n, %c3 : index
  %k = arith.addi %l, %l : i64
  %p = arith.index_cast %k : i64 to index
  %s = arith.addi %o, %p : index
  %t = tensor.extract_slice %x[%s] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %r = arith.divui %l, %k : i64
  util.return %t, %r : tensor<?xf32>, i64
}
