// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-hold-producers)' | FileCheck %s

#line = affine_map<(d0) -> (d0)>

// Positions 0, 1, …, which two ops update.
// CHECK-LABEL: func.func @positions
// CHECK:         %[[X:.*]] = linalg.generic
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK:         %[[HELD:.*]] = util.optimization_barrier %[[X]]
// CHECK:         %[[TIED:.*]] = flow.tensor.tie_shape %[[HELD]] : tensor<?xi32>{%[[SIZE]]}
// CHECK:         tensor.insert_slice %{{.*}} into %[[TIED]][0]
// CHECK:         tensor.insert_slice %{{.*}} into %[[TIED]][1]
func.func @positions(%n: index, %v: tensor<2xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %e = tensor.empty(%n) : tensor<?xi32>
  %x = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
  %r = tensor.insert_slice %v into %x[0] [2] [1] : tensor<2xi32> into tensor<?xi32>
  %s = tensor.insert_slice %v into %x[1] [2] [1] : tensor<2xi32> into tensor<?xi32>
  return %r, %s : tensor<?xi32>, tensor<?xi32>
}

// Its elements come from a tensor: IREE copies it.
// CHECK-LABEL: func.func @read
// CHECK-NOT:     util.optimization_barrier
func.func @read(%x: tensor<8xi32>, %v: tensor<2xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %e = tensor.empty() : tensor<8xi32>
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%p: i32, %o: i32):
    %k = arith.addi %p, %p : i32
    linalg.yield %k : i32
  } -> tensor<8xi32>
  %r = tensor.insert_slice %v into %y[0] [2] [1] : tensor<2xi32> into tensor<8xi32>
  %s = tensor.insert_slice %v into %y[1] [2] [1] : tensor<2xi32> into tensor<8xi32>
  return %r, %s : tensor<8xi32>, tensor<8xi32>
}

// Nothing else uses it.
// CHECK-LABEL: func.func @alone
// CHECK-NOT:     util.optimization_barrier
func.func @alone(%n: index, %v: tensor<2xi32>) -> tensor<?xi32> {
  %e = tensor.empty(%n) : tensor<?xi32>
  %x = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
  %r = tensor.insert_slice %v into %x[0] [2] [1] : tensor<2xi32> into tensor<?xi32>
  return %r : tensor<?xi32>
}

// A table of known size: IREE may keep it in a global.
// CHECK-LABEL: func.func @table
// CHECK:         %[[X:.*]]:2 = linalg.generic
// CHECK-DAG:     util.optimization_barrier %[[X]]#0 : tensor<8xi32>
// CHECK-DAG:     util.optimization_barrier %[[X]]#1 : tensor<8xi32>
func.func @table() -> (tensor<8xi32>, tensor<8xi32>) {
  %e = tensor.empty() : tensor<8xi32>
  %x:2 = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} outs(%e, %e : tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%o: i32, %u: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %l = arith.muli %k, %k : i32
    linalg.yield %k, %l : i32, i32
  } -> (tensor<8xi32>, tensor<8xi32>)
  return %x#0, %x#1 : tensor<8xi32>, tensor<8xi32>
}
