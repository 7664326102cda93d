// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-copy-inits)' | FileCheck %s

#line = affine_map<(i) -> (i)>

// The product is added to the vector that it reads.
// CHECK-LABEL: func.func @own
// CHECK-SAME:    (%[[A:.*]]: tensor<8x8xf32>, %[[X:.*]]: tensor<8xf32>)
// CHECK:         %[[COPY:.*]] = linalg.generic
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[COPY]] : tensor<8xf32>
// CHECK:         linalg.matvec ins(%[[A]], %[[X]] : {{.*}}) outs(%[[HELD]] : tensor<8xf32>)
func.func @own(%a: tensor<8x8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Added to another one; an op that does not reduce.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     util.optimization_barrier
func.func @silent(%a: tensor<8x8xf32>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = linalg.matvec ins(%a, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}
