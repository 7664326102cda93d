// RUN: fissile-opt %s --fissile-slice-to-sizes 2>/dev/null | FileCheck %s

// The place is moved inside.
// CHECK-LABEL: @update
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}] [2] [1] : tensor<2xf32> into tensor<?xf32>
func.func @update(%x: tensor<?xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<?xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<?xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// One part is a slice; rows are read element by element.
// CHECK-LABEL: @gather
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
// CHECK: tensor.extract
func.func @gather(%x: tensor<?x4xf32>, %i: tensor<1xi32>, %s: tensor<2xi32>, %rows: tensor<?x1xi32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %r = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %q = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<?x4xf32>, tensor<?x1xi32>) -> tensor<?x4xf32>
  return %r, %q : tensor<?x4xf32>, tensor<?x4xf32>
}

// One part is written where it is inside.
// CHECK-LABEL: @scatter
// CHECK: scf.if
// CHECK: tensor.insert_slice
func.func @scatter(%x: tensor<?x4xf32>, %i: tensor<1xi32>, %u: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<1xi32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Static sizes IREE takes; a scatter that adds is not written.
// CHECK-LABEL: @stays
// CHECK: stablehlo.dynamic_update_slice
// CHECK: stablehlo.scatter
func.func @stays(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %y: tensor<?xf32>, %j: tensor<1xi32>, %v: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %s = "stablehlo.scatter"(%y, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<?xf32>, tensor<1xi32>, tensor<?xf32>) -> tensor<?xf32>
  return %r, %s : tensor<4xf32>, tensor<?xf32>
}
