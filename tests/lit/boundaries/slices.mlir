// RUN: fissile-opt %s --fissile-store-slices | FileCheck %s

// A slice that a scatter updates, behind a reshape.
// CHECK-LABEL: func.func @updated
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice
// CHECK:         %[[STORED:.*]] = "fissile.boundary"(%[[SLICE]]) : (tensor<2x3xi8>) -> tensor<2x3xi8>
// CHECK:         %[[SHAPED:.*]] = tensor.expand_shape %[[STORED]]
// CHECK:         iree_linalg_ext.scatter {{.*}} outs(%[[SHAPED]] : tensor<1x2x3xi8>)
func.func @updated(%x: tensor<4x2x3xi8>, %i: index, %at: tensor<1x1xi32>, %u: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = tensor.extract_slice %x[%i, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<4x2x3xi8> to tensor<2x3xi8>
  %e = tensor.expand_shape %s [[0, 1], [2]] output_shape [1, 2, 3] : tensor<2x3xi8> into tensor<1x2x3xi8>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %at : tensor<1x2x3xi8>, tensor<1x1xi32>) outs(%e : tensor<1x2x3xi8>) {
  ^bb0(%a: i8, %b: i8):
    iree_linalg_ext.yield %a : i8
  } -> tensor<1x2x3xi8>
  return %r : tensor<1x2x3xi8>
}

// A slice that a body reads by element.
// CHECK-LABEL: func.func @gathered
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice
// CHECK:         %[[STORED:.*]] = "fissile.boundary"(%[[SLICE]])
// CHECK:         tensor.extract %[[STORED]]
func.func @gathered(%x: tensor<32x8xi32>, %at: tensor<5xi32>) -> tensor<5xi32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[4, 3] [11, 1] [2, 2] : tensor<32x8xi32> to tensor<11x1xi32>
  %e = tensor.empty() : tensor<5xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%at : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%i: i32, %o: i32):
    %n = arith.index_cast %i : i32 to index
    %v = tensor.extract %s[%n, %c0] : tensor<11x1xi32>
    linalg.yield %v : i32
  } -> tensor<5xi32>
  return %r : tensor<5xi32>
}

// A result that is put into a larger tensor.
// CHECK-LABEL: func.func @placed
// CHECK:         %[[SORTED:.*]] = iree_linalg_ext.sort
// CHECK:         %[[STORED:.*]] = "fissile.boundary"(%[[SORTED]])
// CHECK:         tensor.insert_slice %[[STORED]] into
func.func @placed(%x: tensor<4x4xi8>, %y: tensor<5x10xi8>) -> tensor<5x10xi8> {
  %s = iree_linalg_ext.sort dimension(1) outs(%x : tensor<4x4xi8>) {
  ^bb0(%a: i8, %b: i8):
    %k = arith.cmpi slt, %a, %b : i8
    iree_linalg_ext.yield %k : i1
  } -> tensor<4x4xi8>
  %r = tensor.insert_slice %s into %y[0, 0] [4, 4] [1, 2] : tensor<4x4xi8> into tensor<5x10xi8>
  return %r : tensor<5x10xi8>
}

// A whole tensor.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     fissile.boundary
func.func @whole(%x: tensor<1x2x3xi8>, %at: tensor<1x1xi32>, %u: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %at : tensor<1x2x3xi8>, tensor<1x1xi32>) outs(%x : tensor<1x2x3xi8>) {
  ^bb0(%a: i8, %b: i8):
    iree_linalg_ext.yield %a : i8
  } -> tensor<1x2x3xi8>
  return %r : tensor<1x2x3xi8>
}
