// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-split-reductions)' | FileCheck %s

// 50257 steps: 128 sums of 392 steps, each of every 128th element, behind what 392 * 128 leaves over.
// CHECK-DAG:   #[[REST:.*]] = affine_map<(d0, d1) -> (d1 + 50176)>
// CHECK-DAG:   #[[EVERY:.*]] = affine_map<(d0, d1, d2) -> (d1 * 128 + d2)>
// CHECK-LABEL: func.func @weighted
// CHECK-SAME:    (%[[X:.*]]: tensor<3x50257xf32>, %[[INIT:.*]]: tensor<3xf32>)
// CHECK:         tensor.expand_shape {{.*}} into tensor<3x392x128xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:           affine.apply #[[EVERY]]
// CHECK:         %[[PARTS:.*]] = "fissile.boundary"(%{{.*}}) : (tensor<3x128xf32>)
// CHECK:         %[[LAST:.*]] = tensor.extract_slice %[[X]][0, 50176] [3, 81] [1, 1]
// CHECK:         %[[LEFT:.*]] = linalg.generic {{.*}} ins(%[[LAST]] : tensor<3x81xf32>) outs(%[[INIT]] : tensor<3xf32>)
// CHECK:           affine.apply #[[REST]]
// CHECK:         %[[APART:.*]] = "fissile.boundary"(%[[LEFT]]) : (tensor<3xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[PARTS]] : tensor<3x128xf32>) outs(%[[APART]] : tensor<3xf32>)
// CHECK:           arith.addf
// CHECK-NEXT:      linalg.yield
func.func @weighted(%x: tensor<3x50257xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x50257xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %m = arith.mulf %in, %k : f32
    %a = arith.addf %m, %sum : f32
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Both reductions of a softmax, and no rest where a power of two divides the row.
// CHECK-LABEL: func.func @softmax
// CHECK:         arith.maxnumf
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<2x64xf32>)
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<2x64xf32>)
// CHECK:         math.exp
// CHECK-NEXT:    arith.divf
// CHECK-NOT:     tensor.extract_slice
func.func @softmax(%x: tensor<2x8192xf32>, %e: tensor<2x8192xf32>) -> tensor<2x8192xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8192xf32>) outs(%e : tensor<2x8192xf32>) -> tensor<2x8192xf32>
  return %r : tensor<2x8192xf32>
}

// No rest where another number near the root of the row divides it, here 280.
// CHECK-LABEL: func.func @divided
// CHECK:         tensor.expand_shape {{.*}} into tensor<8x250x280xf32>
// CHECK:         "fissile.boundary"(%{{.*}}) : (tensor<8x280xf32>)
// CHECK-NOT:     tensor.extract_slice
func.func @divided(%x: tensor<8x70000xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce ins(%x : tensor<8x70000xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %a = arith.addf %in, %sum : f32
      linalg.yield %a : f32
    }
  return %r : tensor<8xf32>
}

// The position of the largest value: parts of terms that follow each other, combined in order, then what is left over.
// CHECK-LABEL: func.func @largest
// CHECK-SAME:    (%[[X:.*]]: tensor<3x8209xf32>, %[[V:.*]]: tensor<3xf32>, %[[P:.*]]: tensor<3xi32>)
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     tensor.expand_shape {{.*}} into tensor<3x64x128xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:         %[[WHOLE:.*]]:2 = linalg.generic {{.*}} outs(%[[V]], %[[P]] : tensor<3xf32>, tensor<3xi32>)
// CHECK-DAG:     %[[W0:.*]] = "fissile.boundary"(%[[WHOLE]]#0)
// CHECK-DAG:     %[[W1:.*]] = "fissile.boundary"(%[[WHOLE]]#1)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<3x17xf32>) outs(%[[W0]], %[[W1]] :
func.func @largest(%x: tensor<3x8209xf32>, %v: tensor<3xf32>, %p: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x8209xf32>) outs(%v, %p : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%in: f32, %most: f32, %at: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %c = arith.cmpf ogt, %in, %most : f32
    %s = arith.select %c, %in, %most : f32
    %t = arith.select %c, %j, %at : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}

// The twins: a short sum, a dynamic one, and one whose terms are not combined one by one.
// CHECK-LABEL: func.func @twins
// CHECK-NOT:     fissile.boundary
// CHECK-NOT:     tensor.expand_shape
func.func @twins(%x: tensor<3x100xf32>, %y: tensor<3x?xf32>, %z: tensor<3x8192xf32>, %init: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = linalg.reduce ins(%x : tensor<3x100xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.addf %in, %sum : f32
      linalg.yield %s : f32
    }
  %b = linalg.reduce ins(%y : tensor<3x?xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.addf %in, %sum : f32
      linalg.yield %s : f32
    }
  %c = linalg.reduce ins(%z : tensor<3x8192xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.divf %sum, %in : f32
      linalg.yield %s : f32
    }
  return %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
