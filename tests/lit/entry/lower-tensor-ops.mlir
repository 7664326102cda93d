// RUN: fissile-opt %s --fissile-lower-tensor-ops 2>/dev/null | FileCheck %s

// CHECK-LABEL: @splat
// CHECK: tensor.empty(%{{.*}}) : tensor<?x3xf32>
// CHECK: linalg.fill
func.func @splat(%v: f32, %n: index) -> tensor<?x3xf32> {
  %r = tensor.splat %v[%n] : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: @border
// CHECK: linalg.generic
// CHECK:   linalg.index 0
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[1] [4] [1]
func.func @border(%x: tensor<4xi32>) -> tensor<6xi32> {
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %c = arith.index_cast %i : index to i32
    tensor.yield %c : i32
  } : tensor<4xi32> to tensor<6xi32>
  return %r : tensor<6xi32>
}

// One value for the whole border: IREE takes it.
// CHECK-LABEL: @one_value
// CHECK: tensor.pad
func.func @one_value(%x: tensor<4xi32>) -> tensor<6xi32> {
  %zero = arith.constant 0 : i32
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : i32
  } : tensor<4xi32> to tensor<6xi32>
  return %r : tensor<6xi32>
}

// CHECK-LABEL: @gather
// CHECK: linalg.generic
// CHECK:   arith.index_cast
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<6x1xi32>) -> tensor<6x8xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// CHECK-LABEL: @scatter
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x1x8xf32>) -> tensor<4x8xf32> {
  %r = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<3x1x8xf32>, tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Tensors of index enter no dispatch.
// CHECK-LABEL: @by_index
// CHECK: tensor.gather
func.func @by_index(%x: tensor<4x8xf32>, %i: tensor<6x1xindex>) -> tensor<6x8xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x8xf32>, tensor<6x1xindex>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
