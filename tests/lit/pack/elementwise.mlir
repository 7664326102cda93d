// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-pack-narrow-storage{types=i8,f16},canonicalize)' | FileCheck %s

// An elementwise op reads the words itself: no i8 is left but the argument, and a bitcast moves nothing.
// CHECK-LABEL: func.func @dequantise
// CHECK-SAME:    (%[[X:.*]]: tensor<4x8xi8>)
// CHECK:         %[[W:.*]] = iree_tensor_ext.bitcast %[[X]] : tensor<4x8xi8> -> tensor<4x2xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[W]] : tensor<4x2xi32>) outs(%{{.*}} : tensor<4x2x4xf32>)
// CHECK:           linalg.index 2
// CHECK:           arith.shrui
// CHECK:           arith.shrsi
// CHECK:           arith.sitofp %{{.*}} : i32 to f32
// CHECK-NOT:     linalg.generic
// CHECK:         tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<4x2x4xf32> into tensor<4x8xf32>
func.func @dequantise(%x: tensor<4x8xi8>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xi8>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    linalg.yield %f : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A result is joined into words; the sum wraps in 8 bits before it is stored.
// CHECK-LABEL: func.func @wrapping_sum
// CHECK:         linalg.generic
// CHECK:           arith.addi
// CHECK:           arith.shli %{{.*}}, %c24_i32
// CHECK:           arith.shrsi %{{.*}}, %c24_i32
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK:           arith.ori
// CHECK:         iree_tensor_ext.bitcast %{{.*}} : tensor<4xi32> -> tensor<16xi8>
func.func @wrapping_sum(%x: tensor<16xi8>, %y: tensor<16xi8>) -> tensor<16xi8> {
  %e = tensor.empty() : tensor<16xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
                       iterator_types = ["parallel"]}
      ins(%x, %y : tensor<16xi8>, tensor<16xi8>) outs(%e : tensor<16xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %s = arith.addi %a, %b : i8
    linalg.yield %s : i8
  } -> tensor<16xi8>
  return %r : tensor<16xi8>
}

// Five elements do not fill two words: bytes are copied into a longer tensor, which no dispatch does.
// CHECK-LABEL: func.func @tail
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0] [5] [1] : tensor<5xi8> into tensor<8xi8>
// CHECK:         iree_tensor_ext.bitcast %{{.*}} : tensor<8xi8> -> tensor<2xi32>
// CHECK:         iree_tensor_ext.bitcast %{{.*}} : tensor<2xi32> -> tensor<8xi8>
// CHECK:         tensor.extract_slice %{{.*}}[0] [5] [1] : tensor<8xi8> to tensor<5xi8>
func.func @tail(%x: tensor<5xi8>) -> tensor<5xi8> {
  %e = tensor.empty() : tensor<5xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xi8>) outs(%e : tensor<5xi8>) {
  ^bb0(%a: i8, %out: i8):
    %c = arith.constant 100 : i8
    %s = arith.muli %a, %c : i8
    linalg.yield %s : i8
  } -> tensor<5xi8>
  return %r : tensor<5xi8>
}

// A dynamic size becomes a number of words, the last of which the bytes may not fill.
// CHECK-LABEL: func.func @dynamic
// CHECK:         arith.ceildivui
// CHECK:         iree_tensor_ext.bitcast %{{.*}} : tensor<?xf16>{%{{.*}}} -> tensor<?xi8>{%{{.*}}}
// CHECK:         tensor.insert_slice
// CHECK:         iree_tensor_ext.bitcast %{{.*}} : tensor<?xi8>{%{{.*}}} -> tensor<?xi32>{%{{.*}}}
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2xf32>)
func.func @dynamic(%x: tensor<?xf16>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf16>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f16, %out: f32):
    %s = arith.extf %a : f16 to f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// What only passes through, or is wide already, stays as it is.
// CHECK-LABEL: func.func @silent
// CHECK-NEXT:    %[[C:.*]] = tensor.collapse_shape
// CHECK-NEXT:    return %[[C]]
func.func @silent(%x: tensor<3x5xi8>) -> tensor<15xi8> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xi8> into tensor<15xi8>
  return %c : tensor<15xi8>
}
