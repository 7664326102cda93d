// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rank-sorts{ops=0})' | FileCheck %s
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-rank-sorts{ops=1})' 2>&1 | FileCheck %s --check-prefix=DYNAMIC

// Each element counts those that precede it: of two that the comparator does not tell apart, the first.
// CHECK-LABEL: func.func @sort
// CHECK-SAME:    (%[[X:.*]]: tensor<300xf32>)
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[X]] : tensor<300xf32>, tensor<300xf32>)
// CHECK-SAME:      tensor<300xi32>
// CHECK:           arith.cmpf olt
// CHECK:           arith.extui %{{.*}} : i1 to i32
// CHECK:           arith.addi
// CHECK:         "fissile.boundary"
// CHECK-NOT:     iree_linalg_ext.sort
// CHECK-LABEL: func.func @dynamic
func.func @sort(%x: tensor<300xf32>) -> tensor<300xf32> {
  %r = iree_linalg_ext.sort dimension(0) outs(%x : tensor<300xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<300xf32>
  return %r : tensor<300xf32>
}

// A row of dynamic size stays.
// CHECK:         iree_linalg_ext.sort
// DYNAMIC: error[FIS114] iree_linalg_ext.sort cannot be sorted by rank: its rows are of dynamic size
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = iree_linalg_ext.sort dimension(0) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
