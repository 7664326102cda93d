// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-constants)' | FileCheck %s

// CHECK-LABEL: util.func public @turned
// CHECK:         %[[FACTORS:.*]] = arith.constant dense<[(1.000000e+00,0.000000e+00), (0.000000e+00,-1.000000e+00)]>
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[FACTORS]] : tensor<2xcomplex<f32>>
// CHECK:         linalg.map { complex.mul } ins(%{{.*}}, %[[HELD]]
util.func public @turned(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %c = arith.constant dense<[(1.0, 0.0), (0.0, -1.0)]> : tensor<2xcomplex<f32>>
  %e = tensor.empty() : tensor<2xcomplex<f32>>
  %r = linalg.map {complex.mul} ins(%x, %c : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) outs(%e : tensor<2xcomplex<f32>>)
  util.return %r : tensor<2xcomplex<f32>>
}

// A constant of floats.
// CHECK-LABEL: util.func public @scaled
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.return
util.func public @scaled(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.map {arith.mulf} ins(%x, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>)
  util.return %r : tensor<2xf32>
}

// Integers of 64 bits.
// CHECK-LABEL: util.func public @wide
// CHECK:         util.optimization_barrier %{{.*}} : tensor<2xi64>
util.func public @wide(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c = arith.constant dense<[3000000000, 2]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi64>
  %r = linalg.map {arith.addi} ins(%x, %c : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>)
  util.return %r : tensor<2xi64>
}

// One number for all, and narrower integers.
// CHECK-LABEL: util.func public @narrow
// CHECK-NOT:     util.optimization_barrier
// CHECK:         util.return
util.func public @narrow(%x: tensor<2xi64>, %y: tensor<2xi32>) -> (tensor<2xi64>, tensor<2xi32>) {
  %c = arith.constant dense<3000000000> : tensor<2xi64>
  %d = arith.constant dense<[1, 2]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2xi64>
  %f = tensor.empty() : tensor<2xi32>
  %r = linalg.map {arith.addi} ins(%x, %c : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>)
  %s = linalg.map {arith.addi} ins(%y, %d : tensor<2xi32>, tensor<2xi32>) outs(%f : tensor<2xi32>)
  util.return %r, %s : tensor<2xi64>, tensor<2xi32>
}
