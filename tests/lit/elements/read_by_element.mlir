// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=0,2})' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-read-by-element{ops=3})' 2>&1 | FileCheck %s --check-prefix=SOFTMAX

// SOFTMAX: error[FIS114] linalg.softmax cannot read by element: it has no body

// A window: its position is computed from the loops' indices. The operands stay, for the loops' extents.
// CHECK: #[[SUM:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1 + d3)>
// CHECK-LABEL: func.func @window
// CHECK-SAME:    (%[[X:.*]]: tensor<1x8x4xi64>, %[[W:.*]]: tensor<3x4x2xi64>
// CHECK:       linalg.generic
// CHECK-SAME:    ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME:    ins(%[[X]], %[[W]] :
// CHECK:       ^bb0(%{{.*}}: i64, %{{.*}}: i64, %[[OUT:.*]]: i64)
// CHECK-DAG:     %[[I0:.*]] = linalg.index 0
// CHECK-DAG:     %[[I2:.*]] = linalg.index 2
// CHECK-DAG:     %[[I3:.*]] = linalg.index 3
// CHECK-DAG:     %[[I4:.*]] = linalg.index 4
// CHECK:         %[[AT:.*]] = affine.apply #[[SUM]]
// CHECK:         %[[A:.*]] = tensor.extract %[[X]][%[[I0]], %[[AT]], %[[I4]]]
// CHECK:         %[[B:.*]] = tensor.extract %[[W]][%[[I3]], %[[I4]], %[[I2]]]
// CHECK:         %[[P:.*]] = arith.muli %[[A]], %[[B]]
// CHECK:         arith.addi %[[OUT]], %[[P]]
func.func @window(%x: tensor<1x8x4xi64>, %w: tensor<3x4x2xi64>, %acc: tensor<1x6x2xi64>) -> tensor<1x6x2xi64> {
  %r = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x8x4xi64>, tensor<3x4x2xi64>) outs(%acc : tensor<1x6x2xi64>) -> tensor<1x6x2xi64>
  return %r : tensor<1x6x2xi64>
}

// The twin that was not chosen, and one in which a scalar operand stays what it is.
// CHECK-LABEL: func.func @chosen
// CHECK:       linalg.generic
// CHECK-NOT:   tensor.extract
// CHECK:       linalg.yield
// CHECK:       linalg.generic
// CHECK:       ^bb0(%{{.*}}: f32, %[[K:.*]]: f32, %{{.*}}: f32)
// CHECK:         %[[V:.*]] = tensor.extract
// CHECK:         arith.mulf %[[V]], %[[K]]
func.func @chosen(%x: tensor<8xf32>, %k: f32, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %n = arith.negf %i : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x, %k : tensor<8xf32>, f32) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %s: f32, %o: f32):
    %n = arith.mulf %i, %s : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

func.func @no_body(%x: tensor<2x8xf32>, %e: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}
