// UNSUPPORTED: iree-3.12
// The indexing maps of attention are spelled otherwise there.
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-attention{boundaries=false})' | FileCheck %s
// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-attention{ops=0,2})' | FileCheck %s --check-prefix=CUT
// RUN: not fissile-opt %s --pass-pipeline='builtin.module(fissile-decompose-attention{ops=1})' 2>&1 | FileCheck %s --check-prefix=OTHER

// OTHER: error[FIS114] linalg.softmax cannot be decomposed as an attention: it is not an attention

// A boolean mask that every batch shares, a region of its own, values in 16 bits: rounded once, at the end.
// CHECK-LABEL: func.func @masked
// CHECK-SAME:    (%[[Q:.*]]: tensor<2x6x4xf16>, %[[K:.*]]: tensor<2x5x4xf16>, %[[V:.*]]: tensor<2x5x3xf16>, %[[M:.*]]: tensor<6x5xi1>,
// CHECK:       %[[S:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "parallel", "reduction"]} ins(%[[Q]], %[[K]] :
// CHECK:       %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]], %{{.*}}, %[[M]] : tensor<2x6x5xf32>, f16, tensor<6x5xi1>)
// CHECK:         %[[SCALE:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK:         %[[CAPPED:.*]] = math.tanh %[[SCALED]]
// CHECK:         arith.select %{{.*}}, %[[CAPPED]],
// CHECK:       %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<2x6x5xf32>) outs(%{{.*}} : tensor<2x6xf32>)
// CHECK:         arith.maximumf
// CHECK:       %[[P:.*]] = linalg.generic {{.*}} ins(%[[T]], %[[MAX]] :
// CHECK:         math.exp2
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<2x6x5xf32>) outs(%{{.*}} : tensor<2x6xf32>)
// CHECK:       %[[O:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[V]] :
// CHECK:       linalg.generic {{.*}} ins(%[[O]], %[[SUM]] :
// CHECK:         arith.divf
// CHECK:         arith.truncf
// CHECK-NOT:   iree_linalg_ext.attention

// CUT-LABEL:   func.func @masked
// CUT-COUNT-4: fissile.boundary
// CUT-NOT:     fissile.boundary
// CUT-LABEL:   func.func @softmax_only
// CUT-NOT:     fissile.boundary
func.func @masked(%q: tensor<2x6x4xf16>, %k: tensor<2x5x4xf16>, %v: tensor<2x5x3xf16>, %m: tensor<6x5xi1>, %e: tensor<2x6x3xf16>) -> tensor<2x6x3xf16> {
  %scale = arith.constant 0.5 : f16
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k, c) -> (b, m, k)>, affine_map<(b, m, n, k, c) -> (b, c, k)>, affine_map<(b, m, n, k, c) -> (b, c, n)>,
      affine_map<(b, m, n, k, c) -> ()>, affine_map<(b, m, n, k, c) -> (m, c)>, affine_map<(b, m, n, k, c) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale, %m : tensor<2x6x4xf16>, tensor<2x5x4xf16>, tensor<2x5x3xf16>, f16, tensor<6x5xi1>)
      outs(%e : tensor<2x6x3xf16>) {
  ^bb0(%score: f32):
    %t = math.tanh %score : f32
    iree_linalg_ext.yield %t : f32
  } -> tensor<2x6x3xf16>
  return %r : tensor<2x6x3xf16>
}

// The twin: no attention, untouched.
// CHECK-LABEL: func.func @softmax_only
// CHECK:       linalg.softmax
func.func @softmax_only(%x: tensor<2x8xf32>, %e: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// bf16 operands of a contraction become f32 behind a boundary: IREE would fold their extension into it.
// CUT-LABEL:   func.func @brain
// CUT-DAG:     "fissile.boundary"(%{{.*}}) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
// CUT-DAG:     "fissile.boundary"(%{{.*}}) : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
// CUT:         "fissile.boundary"(%{{.*}}) : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
func.func @brain(%q: tensor<2x6x4xbf16>, %k: tensor<2x5x4xbf16>, %v: tensor<2x5x3xbf16>, %e: tensor<2x6x3xbf16>) -> tensor<2x6x3xbf16> {
  %scale = arith.constant 0.5 : bf16
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k, c) -> (b, m, k)>, affine_map<(b, m, n, k, c) -> (b, c, k)>, affine_map<(b, m, n, k, c) -> (b, c, n)>,
      affine_map<(b, m, n, k, c) -> ()>, affine_map<(b, m, n, k, c) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x6x4xbf16>, tensor<2x5x4xbf16>, tensor<2x5x3xbf16>, bf16) outs(%e : tensor<2x6x3xbf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x6x3xbf16>
  return %r : tensor<2x6x3xbf16>
}

// An online attention has three results: its sums start from zeros as they are, its maxima and its weighted values from what was before.
// CHECK-LABEL: func.func @online
// CHECK-SAME:    %[[OLD:[^ :]*]]: tensor<6x3xf32>, %[[MAX:[^ :]*]]: tensor<6xf32>)
// CHECK:       %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[MAX]] : tensor<6xf32>)
// CHECK:         arith.maximumf
// CHECK:       %[[P:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NEW]] : tensor<6x5xf32>, tensor<6xf32>)
// CHECK:         math.exp2
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<6x5xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK:       %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[NEW]] :
// CHECK:         math.exp2
// CHECK:       %[[START:.*]] = linalg.generic {{.*}} ins(%[[OLD]], %[[FACTOR]] :
// CHECK:       %[[O:.*]] = linalg.generic {{.*}} ins(%[[P]], %{{.*}}) outs(%[[START]] :
// CHECK:       return %[[O]], %[[NEW]], %[[SUM]]
func.func @online(%q: tensor<6x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x3xf32>, %o: tensor<6x3xf32>, %m: tensor<6xf32>)
    -> (tensor<6x3xf32>, tensor<6xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r:3 = iree_linalg_ext.online_attention <indexing_maps = [
      affine_map<(m, n, k, c) -> (m, k)>, affine_map<(m, n, k, c) -> (c, k)>, affine_map<(m, n, k, c) -> (c, n)>, affine_map<(m, n, k, c) -> ()>,
      affine_map<(m, n, k, c) -> (m, n)>, affine_map<(m, n, k, c) -> (m)>, affine_map<(m, n, k, c) -> (m)>]>
      ins(%q, %k, %v, %scale : tensor<6x4xf32>, tensor<5x4xf32>, tensor<5x3xf32>, f32)
      outs(%o, %m, %s : tensor<6x3xf32>, tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<6x3xf32>, tensor<6xf32>, tensor<6xf32>
  return %r#0, %r#1, %r#2 : tensor<6x3xf32>, tensor<6xf32>, tensor<6xf32>
}

// A packed mask is read through its bytes: 6 times 5 booleans in 4 of them.
// CHECK-LABEL: func.func @packed
// CHECK:       %[[BYTES:.*]] = iree_tensor_ext.bitcast %{{.*}} : tensor<6x5xi1, #iree_encoding.packed_storage> -> tensor<4xi8>
// CHECK:       linalg.generic {{.*}} ins(%[[BYTES]] : tensor<4xi8>) outs(%{{.*}} : tensor<4x8xi32>)
// CHECK:       tensor.extract_slice %{{.*}}[0] [30] [1]
func.func @packed(%q: tensor<6x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x3xf32>, %m: tensor<6x5xi1, #iree_encoding.packed_storage>, %o: tensor<6x3xf32>)
    -> tensor<6x3xf32> {
  %scale = arith.constant 0.5 : f32
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(m, n, k, c) -> (m, k)>, affine_map<(m, n, k, c) -> (c, k)>, affine_map<(m, n, k, c) -> (c, n)>, affine_map<(m, n, k, c) -> ()>,
      affine_map<(m, n, k, c) -> (m, c)>, affine_map<(m, n, k, c) -> (m, n)>]>
      ins(%q, %k, %v, %scale, %m : tensor<6x4xf32>, tensor<5x4xf32>, tensor<5x3xf32>, f32, tensor<6x5xi1, #iree_encoding.packed_storage>)
      outs(%o : tensor<6x3xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}
