// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-movement{ops=0,1,2})' | FileCheck %s

// Tile 8 of a dimension in eights: the source's index is 8 * tile + place; beyond the source there is padding.
// CHECK-LABEL: func.func @packed
// CHECK-SAME:    (%[[X:.*]]: tensor<100x70xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<13x70x8xf32>)
// CHECK:           affine.apply
// CHECK:           %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK:           %[[V:.*]] = tensor.extract %[[X]]
// CHECK:           arith.select %[[IN]], %[[V]]
// CHECK-NOT:     linalg.pack
func.func @packed(%x: tensor<100x70xf32>) -> tensor<13x70x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x70x8xf32>
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<100x70xf32> -> tensor<13x70x8xf32>
  return %r : tensor<13x70x8xf32>
}

// CHECK-LABEL: func.func @unpacked
// CHECK:         affine.apply #{{.*}}(%{{.*}})
// CHECK:         tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<13x70x8xf32>
// CHECK-NOT:     linalg.unpack
func.func @unpacked(%x: tensor<13x70x8xf32>) -> tensor<100x70xf32> {
  %e = tensor.empty() : tensor<100x70xf32>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<13x70x8xf32> -> tensor<100x70xf32>
  return %r : tensor<100x70xf32>
}

// CHECK-LABEL: func.func @gathered
// CHECK-SAME:    (%[[X:.*]]: tensor<9x5xf32>, %[[I:.*]]: tensor<3xi32>)
// CHECK:         %[[AT:.*]] = tensor.extract %[[I]][%{{.*}}] : tensor<3xi32>
// CHECK:         %[[ROW:.*]] = arith.index_cast %[[AT]]
// CHECK:         tensor.extract %[[X]][%[[ROW]], %{{.*}}] : tensor<9x5xf32>
func.func @gathered(%x: tensor<9x5xf32>, %i: tensor<3xi32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<9x5xf32>, tensor<3xi32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// The twin is source op 3, which was not named: it stays.
// CHECK-LABEL: func.func @twin
// CHECK:         linalg.unpack
// CHECK-NOT:     tensor.extract
func.func @twin(%x: tensor<13x70x8xf32>) -> tensor<100x70xf32> {
  %e = tensor.empty() : tensor<100x70xf32>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<13x70x8xf32> -> tensor<100x70xf32>
  return %r : tensor<100x70xf32>
}
