// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-compute-at-load)' | FileCheck %s

// CHECK:       util.global private @__computed_at_load_0 : tensor<4xf32>
// CHECK:       util.initializer {
// CHECK:         %[[TABLE:.*]] = arith.constant dense<[1.0
// CHECK:         %[[HIDDEN:.*]] = util.optimization_barrier %[[TABLE]]
// CHECK:         %[[ROOTS:.*]] = linalg.generic {{.*}} ins(%[[HIDDEN]]
// CHECK:         util.global.store %[[ROOTS]], @__computed_at_load_0
// CHECK:       util.func public @table
// CHECK:         %[[LOADED:.*]] = util.global.load @__computed_at_load_0
// CHECK:         linalg.map {{.*}} ins(%{{.*}}, %[[LOADED]]
util.func public @table(%x: tensor<4xf32>) -> tensor<4xf32> {
  %table = arith.constant dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %roots = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%table : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %sum = linalg.map { arith.addf } ins(%x, %roots : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  util.return %sum : tensor<4xf32>
}

// A constant that an op reads as it is, and a tensor of an argument's: neither is computed while IREE compiles.
// CHECK-LABEL: util.func public @as_it_is
// CHECK-NOT:     util.global.load
// CHECK:         util.return
util.func public @as_it_is(%x: tensor<4xf32>) -> tensor<4xf32> {
  %table = arith.constant dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %sum = linalg.map { arith.addf } ins(%x, %table : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  util.return %sum : tensor<4xf32>
}

// Made of a few numbers, and more than a MiB large: IREE does not hoist it.
// CHECK-LABEL: util.func public @large
// CHECK-NOT:     util.global.load
// CHECK:         util.return
util.func public @large() -> tensor<4x131072xf32> {
  %table = arith.constant dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x131072xf32>
  %rows = linalg.broadcast ins(%table : tensor<4xf32>) outs(%e : tensor<4x131072xf32>) dimensions = [1]
  util.return %rows : tensor<4x131072xf32>
}

// In an initializer that is there already, a barrier is enough.
// CHECK:       util.initializer {
// CHECK-NEXT:    %[[ONES:.*]] = arith.constant
// CHECK-NEXT:    util.optimization_barrier %[[ONES]]
// CHECK-NOT:     util.global.load
// CHECK:         util.return
util.global private @kept : tensor<2xf32>
util.initializer {
  %ones = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %twice = linalg.map { arith.addf } ins(%ones, %ones : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>)
  util.global.store %twice, @kept : tensor<2xf32>
  util.return
}

// One number everywhere, which IREE evaluates.
// CHECK-LABEL: util.func public @zeros
// CHECK-NOT:     util.global.load
// CHECK:         util.return
util.func public @zeros(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.matvec ins(%x, %y : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}
