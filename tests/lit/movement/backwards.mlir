// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-movement)' 2>/dev/null | FileCheck %s

// A padding that reflects: the operand is read from its end on. The other one stays an operand.
// CHECK: #[[BACK:.*]] = affine_map<(d0, d1) -> (-d1 + 7)>
// CHECK-LABEL: func.func @backwards
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<2x8xf32>)
// CHECK: %[[AT:.*]] = affine.apply #[[BACK]]
// CHECK: tensor.extract %arg0[%{{.*}}, %[[AT]]]
func.func @backwards(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, -j + 7)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2x8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// A convolution's sum of two indices goes forward.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @forward(%x: tensor<9xf32>, %w: tensor<2xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<9xf32>, tensor<2xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
