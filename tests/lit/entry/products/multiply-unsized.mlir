// RUN: fissile-opt %s --fissile-multiply-unsized 2>/dev/null | FileCheck %s

// The heads of an attention over a batch of any size: batch, sequence, heads, elements of a head; summed.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d2, d3)>
// CHECK-LABEL: @split
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], {{.*}}"reduction"
// CHECK: arith.extf
// CHECK: return %{{.*}} : tensor<?x6x2x8xf32>
func.func @split(%x: tensor<?x6x16xbf16>, %w: tensor<16x2x8xf32>) -> tensor<?x6x2x8xf32> {
  %r = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<?x6x16xbf16>, tensor<16x2x8xf32>) -> tensor<?x6x2x8xf32>
  return %r : tensor<?x6x2x8xf32>
}

// CHECK-LABEL: @unsigned
// CHECK: linalg.generic
// CHECK: arith.extui
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<i32>) -> tensor<ui32>
func.func @unsigned(%x: tensor<?xui8>, %y: tensor<?xui32>) -> tensor<ui32> {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?xui8>, tensor<?xui32>) -> tensor<ui32>
  return %r : tensor<ui32>
}

// IREE lowers matrices, products with batch dimensions, and known sizes.
// CHECK-LABEL: @stays
// CHECK-NOT: linalg
// CHECK: return
func.func @stays(%a: tensor<?x4xf32>, %b: tensor<4x5xf32>, %c: tensor<?x3x4xf32>, %d: tensor<?x4x5xf32>, %e: tensor<2x3x4xf32>)
    -> (tensor<?x5xf32>, tensor<?x3x5xf32>, tensor<2x3x5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %1 = stablehlo.dot_general %c, %d, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x3x4xf32>, tensor<?x4x5xf32>) -> tensor<?x3x5xf32>
  %2 = stablehlo.dot_general %e, %b, contracting_dims = [2] x [0] : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1, %2 : tensor<?x5xf32>, tensor<?x3x5xf32>, tensor<2x3x5xf32>
}
