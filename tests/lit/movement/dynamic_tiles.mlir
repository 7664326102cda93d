// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-movement{ops=0,1})' | FileCheck %s

// The size of a tile is a value: an affine map takes no value as a factor, so positions are products and quotients of indices.
// CHECK-LABEL: func.func @packed
// CHECK-SAME:    (%[[X:.*]]: tensor<100xf32>, %[[T:[a-z0-9]*]]: index
// CHECK:           %[[OUTER:.*]] = linalg.index 0
// CHECK:           %[[INNER:.*]] = linalg.index 1
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[OUTER]], %[[T]]
// CHECK:           %[[AT:.*]] = arith.addi %[[BEGIN]], %[[INNER]]
// CHECK:           arith.cmpi ult, %[[AT]]
// CHECK:           tensor.extract %[[X]]
// CHECK-NOT:     linalg.pack
func.func @packed(%x: tensor<100xf32>, %t: index, %n: index) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %t) : tensor<?x?xf32>
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [%t] into %e : tensor<100xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// One tile has a static size, the other a dynamic one.
// CHECK-LABEL: func.func @unpacked
// CHECK-SAME:    (%[[X:.*]]: tensor<?x?x?x8xf32>, %[[T:[a-z0-9]*]]: index
// CHECK:           %[[TILE:.*]] = arith.divui %[[I:.*]], %[[T]]
// CHECK:           affine.apply
// CHECK:           arith.remui %[[I]], %[[T]]
// CHECK:           tensor.extract %[[X]]
// CHECK-NOT:     linalg.unpack
func.func @unpacked(%x: tensor<?x?x?x8xf32>, %t: index, %a: index, %b: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%a, %b) : tensor<?x?xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [%t, 8] into %e : tensor<?x?x?x8xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// The twin is source op 2, which was not named: it stays.
// CHECK-LABEL: func.func @twin
// CHECK:         linalg.pack
// CHECK-NOT:     tensor.extract
func.func @twin(%x: tensor<100xf32>, %t: index, %n: index) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %t) : tensor<?x?xf32>
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [%t] into %e : tensor<100xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
