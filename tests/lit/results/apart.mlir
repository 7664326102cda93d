// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-split-results)' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-split-results{ops=1})' 2>&1 | FileCheck %s --check-prefix=WRONG

// An op for each result, with the inputs that it needs.
// CHECK-LABEL: func.func @sums
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%arg0 : tensor<?x64xf32>)
// CHECK:         arith.addf
// CHECK-NOT:     arith.mulf
// CHECK:         linalg.yield %{{[^ ,]*}} : f32
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%arg0, %arg1 : tensor<?x64xf32>, tensor<?x64xf32>)
// CHECK:         arith.mulf
// CHECK:         linalg.yield %{{[^ ,]*}} : f32
func.func @sums(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %init: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                          affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>) outs(%init, %init : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %t: f32):
    %p = arith.addf %a, %s : f32
    %m = arith.mulf %a, %b : f32
    %q = arith.addf %m, %t : f32
    linalg.yield %p, %q : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// Where the largest stands is computed from the largest so far.
// WRONG: FIS114
// WRONG-SAME: one of its results is computed from another
// CHECK-LABEL: func.func @silent
// CHECK:         %{{.*}}:2 = linalg.generic
// CHECK-NOT:     linalg.generic
func.func @silent(%x: tensor<8x64xf32>, %v: tensor<8xf32>, %w: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%v, %w : tensor<8xf32>, tensor<8xi32>) {
  ^bb0(%a: f32, %m: f32, %at: i32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %g = arith.cmpf ogt, %a, %m : f32
    %p = arith.select %g, %a, %m : f32
    %q = arith.select %g, %i, %at : i32
    linalg.yield %p, %q : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}
