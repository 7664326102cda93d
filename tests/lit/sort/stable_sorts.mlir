// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-stable-sorts)' | FileCheck %s

// CHECK: #[[END:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 7)>

// A strict order becomes one that holds of equal keys.
// CHECK-LABEL: func.func @strict
// CHECK:         arith.cmpi sle, %{{.*}}, %{{.*}} : i32
func.func @strict(%k: tensor<8xi32>, %v: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>) {
  %r:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
    %p = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>, tensor<8xf32>
  return %r#0, %r#1 : tensor<8xi32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @descending
// CHECK:         arith.cmpf oge, %{{.*}}, %{{.*}} : f32
func.func @descending(%k: tensor<8xf32>, %v: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %r:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<8xf32>, tensor<8xi32>) {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %p = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xf32>, tensor<8xi32>
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}

// Two keys: the second decides where the first are equal. In order unless b must stand before a.
// CHECK-LABEL: func.func @two_keys
// CHECK:         ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %[[C:.*]]: i32, %[[D:.*]]: i32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK:         arith.cmpi slt, %[[A]], %[[B]]
// CHECK:         %[[FIRST:.*]] = arith.select
// CHECK:         arith.cmpi slt, %[[B]], %[[A]]
// CHECK:         arith.cmpi eq, %[[B]], %[[A]]
// CHECK:         arith.cmpi slt, %[[D]], %[[C]]
// CHECK:         %[[OTHER:.*]] = arith.select
// CHECK:         %[[NOT:.*]] = arith.xori %[[OTHER]], %{{.*}} : i1
// CHECK:         %[[STAYS:.*]] = arith.ori %[[FIRST]], %[[NOT]] : i1
// CHECK:         iree_linalg_ext.yield %[[STAYS]] : i1
func.func @two_keys(%k: tensor<8xi32>, %l: tensor<8xi32>, %v: tensor<8xf32>) -> tensor<8xf32> {
  %r:3 = iree_linalg_ext.sort dimension(0) outs(%k, %l, %v : tensor<8xi32>, tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%a: i32, %b: i32, %c: i32, %d: i32, %e: f32, %f: f32):
    %less = arith.cmpi slt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %second = arith.cmpi slt, %c, %d : i32
    %p = arith.select %same, %second, %less : i1
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>, tensor<8xi32>, tensor<8xf32>
  return %r#2 : tensor<8xf32>
}

// Already stable, and a sort of one tensor, where equal keys cannot be told apart.
// CHECK-LABEL: func.func @silent
// CHECK:         arith.cmpi sge
// CHECK:         arith.cmpi slt
// CHECK-NOT:     arith.xori
func.func @silent(%k: tensor<8xi32>, %v: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %r:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
    %p = arith.cmpi sge, %a, %b : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>, tensor<8xf32>
  %s = iree_linalg_ext.sort dimension(0) outs(%k : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %p = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<8xi32>
  return %r#0, %s : tensor<8xi32>, tensor<8xi32>
}

// The first of equal values is the last that a topk sees, and goes before the others; its own indices count from the end.
// CHECK-LABEL: func.func @top_k
// CHECK:         %[[X:.*]] = linalg.generic {indexing_maps = [#[[END]],
// CHECK:         %[[R:.*]]:2 = iree_linalg_ext.topk dimension(1) ins(%[[X]] :
// CHECK:         %[[I:.*]] = linalg.generic {{.*}} ins(%[[R]]#1 :
// CHECK:           arith.subi %{{.*}}, %{{.*}} : i32
// CHECK:         return %[[R]]#0, %[[I]]
func.func @top_k(%x: tensor<2x8xf32>, %v: tensor<2x3xf32>, %i: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %r:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<2x8xf32>) outs(%v, %i : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf oge, %a, %b : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
