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
